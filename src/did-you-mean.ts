// "Did you mean": the known names that a mistyped one is closest to.
import damerauLevenshtein from "damerau-levenshtein";

const MOST = 3;
/** Characters. The distance of two words takes time and memory by the square of them. */
const LONGEST = 200;

/** Up to three names, closest first; [] when none is close enough to be meant. */
export function suggestNames(typed: string, known: Iterable<string>): string[] {
  const wanted = typed.toLowerCase();
  if (wanted === "" || wanted.length > LONGEST) return [];
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  const scored: { name: string; score: number }[] = [];
  for (const name of known) {
    const candidate = name.toLowerCase();
    const unscoped = candidate.slice(candidate.lastIndexOf("/") + 1);
    const comparable = [candidate, unscoped].filter((each) => each.length <= wanted.length + limit);
    const edits = Math.min(...comparable.map((each) => damerauLevenshtein(wanted, each).steps));
    const isSlip = edits <= limit && edits < wanted.length; // something of it is left
    if (isSlip) scored.push({ name, score: edits });
    else if (wanted.length > 2 && candidate.startsWith(wanted)) scored.push({ name, score: limit + 1 });
  }
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  return scored.slice(0, MOST).map(({ name }) => name);
}
