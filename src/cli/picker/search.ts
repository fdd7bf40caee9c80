// Which choices a search means, the best first: letters in their order, in the name of package and script or, as a second
// thought, in the command.
import fuzzysort from "fuzzysort";
import type { Choice } from "./choices.ts";

const WORST = 0.2; // of 1, for what is exact
const SECOND_THOUGHT = 0.5;

export function search(choices: readonly Choice[], text: string): readonly Choice[] {
  if (text.trim() === "") return choices;
  const results = fuzzysort.go(text.trim(), choices, {
    keys: ["label", "command"],
    limit: 0,
    threshold: WORST / 2,
    scoreFn: ([label, command]) => Math.max(label!.score, command!.score * SECOND_THOUGHT),
  });
  return results.filter(({ score }) => score >= WORST / 2).map(({ obj }) => obj);
}
