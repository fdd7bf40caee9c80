// Suggests known names for a mistyped one ("did you mean"), by Damerau-Levenshtein distance.
import damerauLevenshtein from "damerau-levenshtein";

const MAX_SUGGESTIONS = 3;
/** Characters. Time and memory of the distance grow quadratically. */
const MAX_LENGTH = 200;

/** Returns up to three names, closest first; [] if none is close enough. */
export function suggestNames(typed: string, known: Iterable<string>): string[] {
  const wanted = typed.toLowerCase();
  if (wanted === "" || wanted.length > MAX_LENGTH) return [];
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  const scored: { name: string; score: number }[] = [];
  for (const name of known) {
    const candidate = name.toLowerCase();
    const unscoped = candidate.slice(candidate.lastIndexOf("/") + 1);
    const comparable = [candidate, unscoped].filter((each) => each.length <= wanted.length + limit);
    const edits = Math.min(...comparable.map((each) => damerauLevenshtein(wanted, each).steps));
    const isTypo = edits <= limit && edits < wanted.length; // at least one character matches
    if (isTypo) scored.push({ name, score: edits });
    else if (wanted.length > 2 && candidate.startsWith(wanted)) scored.push({ name, score: limit + 1 });
  }
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  return scored.slice(0, MAX_SUGGESTIONS).map(({ name }) => name);
}
