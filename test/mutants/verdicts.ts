// Verdicts that outlive a run (`--report=<file>`), one a line: a run that was stopped goes on where it was, and one after a
// change tries again what the change touches.
//
// A verdict stands while its entry, the file that it changes and its tests are what they were. What these import may have
// changed all the same: leave the report away for a figure that is to be quoted. What could not be tried is tried again.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../support/rt.ts";
import { nameOf, type Placed, testFileOf } from "./mutant.ts";

export type Verdict = "killed" | "survived" | "not tried";

export interface Judgement {
  readonly verdict: Verdict;
  /** The test that failed, or why it survives or could not be tried. */
  readonly remark: string;
}

export interface Verdicts {
  get(mutant: Placed): Judgement | undefined;
  add(mutant: Placed, judgement: Judgement): void;
}

/** @param report the file; without it nothing is kept */
export function openVerdicts(mutants: readonly Placed[], report: string | undefined): Verdicts {
  const known = new Map<string, Judgement>();
  if (report === undefined) return { get: () => undefined, add: () => {} };
  // Before anything is tried: who edits the source meanwhile is not told that the new one was.
  const keys = new Map(mutants.map((mutant) => [mutant, keyOf(mutant)]));
  const lines = existsSync(report) ? readFileSync(report, "utf8").split("\n") : [];
  for (const line of lines) {
    const entry = readLine(line);
    if (entry) known.set(entry.key, entry);
  }
  return {
    get(mutant) {
      const judgement = known.get(keys.get(mutant)!);
      return judgement?.verdict === "not tried" ? undefined : judgement;
    },
    add(mutant, judgement) {
      const entry = { key: keys.get(mutant)!, name: nameOf(mutant), ...judgement };
      known.set(entry.key, entry);
      appendFileSync(report, `\n${JSON.stringify(entry)}`); // not behind half a line
    },
  };
}

/** A run that was killed may have left half a line. */
function readLine(line: string): (Judgement & { readonly key: string }) | undefined {
  try {
    return JSON.parse(line) as Judgement & { key: string };
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
