// Builds in another checkout and prints the checksums of the results: `make-elsewhere.ts <root> <request>`. A
// separate process, because a process loads each module path once.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CHECKSUMS } from "../../../build/release/release-files.ts";
import type { ReleaseSettings } from "../../../build/release.ts";

export interface BuildChecksums {
  /** The list of checksums of the release's files. */
  readonly release: string;
  /** Checksums by target name. */
  readonly programs: Readonly<Record<string, string>>;
}

export interface BuildRequest {
  readonly release: Omit<ReleaseSettings, "directory">;
  /** Target names. */
  readonly programs: readonly string[];
}

function sumsOf(directory: string): Record<string, string> {
  const names = readdirSync(directory).toSorted();
  return Object.fromEntries(names.map((name) => [name, sumOf(join(directory, name))]));
}

function sumOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

if (import.meta.main) {
  const [root, request] = process.argv.slice(2) as [string, string];
  const { release, programs } = JSON.parse(request) as BuildRequest;
  const { buildRelease } = (await import(
    join(root, "build", "release.ts")
  )) as typeof import("../../../build/release.ts");
  const { compile } = (await import(
    join(root, "build", "compile.ts")
  )) as typeof import("../../../build/compile.ts");
  const { TARGETS } = (await import(
    join(root, "build", "targets.ts")
  )) as typeof import("../../../build/targets.ts");
  const directory = (name: string) => join(root, "elsewhere", name);
  await buildRelease({ ...release, directory: directory("release") });
  for (const target of TARGETS)
    if (programs.includes(target.name)) await compile(target, join(directory("programs"), target.name));
  const checksums: BuildChecksums = {
    release: readFileSync(join(directory("release"), CHECKSUMS), "utf8"),
    programs: sumsOf(directory("programs")),
  };
  console.log(JSON.stringify(checksums));
}
