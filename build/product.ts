// What rt is called, wherever a package or a binary has to say so: the one place.
import manifest from "../package.json" with { type: "json" };

export const PRODUCT = {
  /** The command. */
  command: "rt",
  /** The package, in each package manager. */
  package: manifest.name,
  version: manifest.version,
  description: manifest.description,
  licence: manifest.license,
  copyright: "Copyright (c) 2026 the rt authors",
  publisher: "the rt authors",
  /** What macOS knows the program by: a keychain's grants are given to it, so it must never change. */
  identifier: "rt-runtime.rt",
} as const;
