// "Did you mean": the known names that a mistyped one is closest to.

const MOST = 3;

/** Up to three names, closest first; [] when none is close enough to be meant. */
export function nearest(typed: string, known: Iterable<string>): string[] {
  const wanted = typed.toLowerCase();
  if (wanted === "") return [];
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  const scored: { name: string; score: number }[] = [];
  for (const name of known) {
    const candidate = name.toLowerCase();
    const unscoped = candidate.slice(candidate.lastIndexOf("/") + 1);
    const distance = Math.min(editDistance(wanted, candidate, limit), editDistance(wanted, unscoped, limit));
    if (distance <= limit) scored.push({ name, score: distance });
    else if (wanted.length > 2 && candidate.startsWith(wanted)) scored.push({ name, score: limit + 1 });
  }
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  return scored.slice(0, MOST).map(({ name }) => name);
}

/** Insertions, deletions, replacements and swaps of neighbours; more than `limit` is reported as `limit + 1`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min(replaced, last[j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, beforeLast[j - 2]! + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return Math.min(last[b.length]!, limit + 1);
}
