// Builds this source in another checkout, with another path depth, time zone, language and umask. Returns checksums,
// which show that builds are reproducible. Built once for all test files.
import { copyFileSync, linkSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hostTarget } from "../../../build/targets.ts";
import { compileOnce } from "../../support/programs/compiled.ts";
import { outputOfProgram } from "../../support/output.ts";
import { REPOSITORY } from "../../support/rt.ts";
import type { BuildChecksums } from "./make-elsewhere.ts";

const NEEDED = ["build", "src", "platform", "docs", "node_modules", "package.json", "README.md", "LICENSE"];

/** Large packages that no build uses. */
const UNNEEDED =
  /node_modules\/(?:playwright-core|happy-dom|bun-types|@types|typescript|@turbo|@rolldown|@esbuild|lightningcss[^/]*|vite|vitest|axe-core)(?:\/|$)/;

/** Without compression, which takes longer than the rest; test/build/release/archive.test.ts tests it. */
export const RELEASE = {
  names: [hostTarget().name],
  url: "https://releases.example",
  effort: 0,
} as const;

/** One target of each other system, because the build does the same for all targets of a system. */
export const COMPARED = ["linux-x64", "darwin-arm64", "windows-x64"].filter(
  (name) => !name.startsWith(`${hostTarget().os}-`),
);

/** Milliseconds for a test that waits for several builds in sequence while other tests run. */
export const ELSEWHERE_LIMIT = 300_000;

export async function checksumsOfOtherCheckout(): Promise<BuildChecksums> {
  return JSON.parse(
    await readFile(await compileOnce("elsewhere", buildOtherCheckout), "utf8"),
  ) as BuildChecksums;
}

async function buildOtherCheckout(sums: string): Promise<void> {
  const top = await realpath(await mkdtemp(join(tmpdir(), "rt checkout ")));
  try {
    const path = join(top, "deeper", "than", "before");
    await mkdir(path, { recursive: true });
    for (const name of NEEDED) linkTree(join(REPOSITORY, name), join(path, name));
    const script = join(import.meta.dir, "make-elsewhere.ts");
    const args = [script, path, JSON.stringify({ release: RELEASE, programs: COMPARED })];
    const env = { ...process.env, TZ: "Pacific/Apia", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" };
    const command = ["sh", "-c", 'umask 077; exec "$0" "$@"', process.execPath, ...args];
    await Bun.write(sums, await outputOfProgram(command, { cwd: top, env }));
  } finally {
    await rm(top, { recursive: true, force: true });
  }
}

/** Links files, because no build writes to them and a copy of four thousand takes as long as a build. */
function linkTree(from: string, to: string): void {
  if (UNNEEDED.test(from)) return;
  if (!lstatSync(from).isDirectory()) {
    try {
      linkSync(from, to);
    } catch {
      copyFileSync(from, to); // another file system
    }
    return;
  }
  mkdirSync(to);
  for (const name of readdirSync(from)) linkTree(join(from, name), join(to, name));
}
