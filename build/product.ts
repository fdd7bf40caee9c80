// The product's names, for packages and binaries.
import manifest from "../package.json" with { type: "json" };

export const PRODUCT = {
  command: "rt",
  package: manifest.name,
  version: manifest.version,
  description: manifest.description,
  licence: manifest.license,
  copyright: "Copyright (c) 2026 the rt authors",
  publisher: "the rt authors",
  /** The code-signing identifier on macOS. Keychain grants depend on it, so it must never change. */
  identifier: "rt-runtime.rt",
} as const;
