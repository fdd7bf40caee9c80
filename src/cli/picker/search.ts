// Fuzzy search over the choices, best match first. Matches the letters in order in the label or, with a lower score, in the
// command.
import fuzzysort from "fuzzysort";
import type { Choice } from "./choices.ts";

const MIN_SCORE = 0.1; // an exact match scores 1
const COMMAND_WEIGHT = 0.5;

export function search(choices: readonly Choice[], text: string): readonly Choice[] {
  if (text.trim() === "") return choices;
  const results = fuzzysort.go(text.trim(), choices, {
    keys: ["label", "command"],
    limit: 0,
    threshold: MIN_SCORE,
    scoreFn: ([label, command]) => Math.max(label!.score, command!.score * COMMAND_WEIGHT),
  });
  return results.filter(({ score }) => score >= MIN_SCORE).map(({ obj }) => obj);
}
