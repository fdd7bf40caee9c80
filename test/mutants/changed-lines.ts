// Reads from git which lines of the product's TypeScript differ from a base commit, in the working tree as it is.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../support/rt.ts";

const FOLDERS = ["src", "platform", "build"];

/** Written by scripts of build/, so a mutant of them says nothing about their tests. */
const GENERATED = /^src\/reapi\/messages\/|^platform\/linux\/native\/programs\.ts$|\.d\.ts$/;

/** By path from the repository's top: numbers of added or changed lines, from 1. */
export type ChangedLines = ReadonlyMap<string, ReadonlySet<number>>;

/**
 * Returns the lines that differ from where `base` and HEAD parted; files that git does not track count whole.
 * @throws Error when git fails, for example because there is no such commit.
 */
export function readChangedLines(base: string, repository = REPOSITORY): ChangedLines {
  const git = (...words: string[]) => runGit(repository, words);
  const parted = git("merge-base", "--", base, "HEAD").trim();
  const options = ["--unified=0", "--no-color", "--no-ext-diff", "--find-renames", "--dst-prefix=b/"];
  const changed = parseDiff(git("diff", ...options, parted, "--", ...FOLDERS));
  const untracked = git("ls-files", "--others", "--exclude-standard", "-z", "--", ...FOLDERS).split("\0");
  for (const file of untracked) {
    if (!isMutated(file)) continue;
    const { length } = readFileSync(join(repository, file), "utf8").split("\n");
    changed.set(file, new Set(Array.from({ length }, (_, index) => index + 1)));
  }
  return changed;
}

function parseDiff(diff: string): Map<string, Set<number>> {
  const changed = new Map<string, Set<number>>();
  let lines: Set<number> | undefined;
  for (const line of diff.split("\n")) {
    const file = /^\+\+\+ b\/(.*)$/.exec(line)?.[1];
    if (file !== undefined) {
      lines = isMutated(file) ? new Set() : undefined;
      if (lines) changed.set(file, lines);
    }
    const [, start, count = "1"] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (start === undefined) continue;
    for (let offset = 0; offset < Number(count); offset += 1) lines?.add(Number(start) + offset);
  }
  return changed;
}

function isMutated(file: string): boolean {
  return file.endsWith(".ts") && !GENERATED.test(file);
}

function runGit(cwd: string, words: readonly string[]): string {
  const options = { cwd, encoding: "utf8", maxBuffer: 2 ** 30 } as const;
  const { status, stdout, stderr, error } = spawnSync("git", words, options);
  if (status === 0) return stdout;
  throw new Error(`git ${words[0]} failed: ${error?.message ?? stderr.trim()}`);
}
