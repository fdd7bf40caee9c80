// Distinguishes patterns from literal texts, by the metacharacters of `Bun.Glob`.
//
// Non-obvious: no regular expression is used, because compiling one takes longer than all checks of a run.

export function isGlob(text: string): boolean {
  for (const character of "*?[]{}") if (text.includes(character)) return true;
  return false;
}
