// Stores the verdicts of a run in the file of `--report=<file>`, one a line, so that a stopped run can continue.
//
// Invariants:
// - A verdict is valid while its row, the changed file and its test files are the same. "not tried" is never reused.
// - The failed test of an invalid verdict runs first, because it is the most likely to fail again.
//
// Non-obvious: modules that the tests import are not compared. For a figure that you publish, run without `--report`.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../support/rt.ts";
import { nameOf, type Placed, testFileOf } from "./mutant.ts";

export type Verdict = "killed" | "survived" | "not tried";

export interface Judgement {
  readonly verdict: Verdict;
  /** The test that failed, or why the mutant survives or could not be tried. */
  readonly remark: string;
}

export interface Verdicts {
  get(mutant: Placed): Judgement | undefined;
  /** Returns the title of the test that last failed with the mutant. */
  likeliest(mutant: Placed): string | undefined;
  add(mutant: Placed, judgement: Judgement): void;
}

/** @param report the file; undefined to store no verdict */
export function openVerdicts(mutants: readonly Placed[], report: string | undefined): Verdicts {
  const known = new Map<string, Judgement>();
  const titles = new Map<string, string>();
  if (report === undefined) return { get: () => undefined, likeliest: () => undefined, add: () => {} };
  // Hashed before the first trial, so that a verdict never applies to source that was edited during the run.
  const keys = new Map(mutants.map((mutant) => [mutant, keyOf(mutant)]));
  const lines = existsSync(report) ? readFileSync(report, "utf8").split("\n") : [];
  for (const line of lines) {
    const entry = readLine(line);
    if (!entry) continue;
    known.set(entry.key, entry);
    if (entry.verdict === "killed") titles.set(entry.name, entry.remark);
  }
  return {
    get(mutant) {
      const judgement = known.get(keys.get(mutant)!);
      return judgement?.verdict === "not tried" ? undefined : judgement;
    },
    likeliest: (mutant) => titles.get(nameOf(mutant)),
    add(mutant, judgement) {
      const entry = { key: keys.get(mutant)!, name: nameOf(mutant), ...judgement };
      known.set(entry.key, entry);
      appendFileSync(report, `\n${JSON.stringify(entry)}`); // the last line may be incomplete
    },
  };
}

/** Returns undefined for an incomplete line of a killed run. */
function readLine(line: string): (Judgement & { readonly key: string; readonly name: string }) | undefined {
  try {
    return JSON.parse(line) as Judgement & { key: string; name: string };
  } catch {
    return undefined;
  }
}

function keyOf(mutant: Placed): string {
  const hash = new Bun.CryptoHasher("sha256");
  hash.update(JSON.stringify([mutant.file, mutant.text, mutant.becomes, mutant.tests]));
  for (const file of [mutant.file, ...mutant.tests.map(testFileOf)])
    hash.update(readFileSync(join(REPOSITORY, file)));
  return hash.digest("hex").slice(0, 32);
}
