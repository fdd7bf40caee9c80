// Generates the mutants of `npm run mutants -- --changed`, from the lines that differ from a base commit.
//
// Non-obvious: the text of a mutant is the shortest unique excerpt around its edit, so it has the form of a table's row.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom, type Random } from "../support/random.ts";
import { REPOSITORY } from "../support/rt.ts";
import type { ChangedLines } from "./changed-lines.ts";
import { applyMutation, listMutations, type Mutation, OPERATORS } from "./mutations.ts";
import type { Placed } from "./mutant.ts";
import { findRelatedTests } from "./related-tests.ts";

/** Returns all mutants of the changed lines. */
export function listChangedMutants(changed: ChangedLines): Placed[] {
  return [...changed].flatMap(([file, lines]) => {
    const source = readFileSync(join(REPOSITORY, file), "utf8");
    const tests = findRelatedTests(file);
    const mutations = listMutations(file, source).filter(({ line }) => lines.has(line));
    return mutations.map((mutation) => placeMutation(file, source, mutation, tests));
  });
}

/** @param tests names of test files, as in the tables */
export function placeMutation(
  file: string,
  source: string,
  mutation: Mutation,
  tests: readonly string[],
): Placed {
  let { start, end } = mutation;
  while (
    source.indexOf(source.slice(start, end)) !== start ||
    source.includes(source.slice(start, end), start + 1)
  ) {
    start = Math.max(0, start - 1);
    end = Math.min(source.length, end + 1);
  }
  const edit = { ...mutation, start: mutation.start - start, end: mutation.end - start };
  const text = source.slice(start, end);
  const before = shorten(source.slice(mutation.start, mutation.end));
  const column = mutation.start - source.lastIndexOf("\n", mutation.start - 1);
  const fault = `${mutation.line}:${column}: ${mutation.operator}: ${before} -> ${shorten(mutation.becomes) || "nothing"}`;
  return { file, fault, text, becomes: applyMutation(edit, text), tests };
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 57)}...` : line;
}

/**
 * Returns at most `count` of the mutants, in their order and in equal shares for each operator. Otherwise half of them would
 * change constants, and those find the fewest gaps.
 */
export function sampleMutants(mutants: readonly Placed[], count: number, seed: number): Placed[] {
  if (mutants.length <= count) return [...mutants];
  const random = createRandom(seed);
  const byOperator = OPERATORS.map((operator) =>
    shuffle(
      mutants.filter(({ fault }) => fault.includes(`: ${operator}: `)),
      random,
    ),
  );
  const chosen = new Set<Placed>();
  while (chosen.size < count)
    for (const waiting of byOperator) {
      const mutant = chosen.size < count ? waiting.pop() : undefined;
      if (mutant) chosen.add(mutant);
    }
  return mutants.filter((mutant) => chosen.has(mutant));
}

function shuffle<Item>(items: Item[], random: Random): Item[] {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = random.below(last + 1);
    [items[last], items[other]] = [items[other]!, items[last]!];
  }
  return items;
}
