// Whether a text is a pattern or stands for itself, as `Bun.Glob` has it.
//
// Without a regular expression, because the engine takes longer to compile one than a run needs for all its answers.

export function isGlob(text: string): boolean {
  for (const character of "*?[]{}") if (text.includes(character)) return true;
  return false;
}
