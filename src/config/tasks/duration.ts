// Parses durations of rtfig.toml, such as "90s" or "10m".

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** The longest delay of a timer, about 25 days in milliseconds. */
const MAX_DURATION = 2 ** 31 - 1;

/** Returns milliseconds, or undefined for an invalid duration. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,10}(?:\.\d{1,3})?) ?(ms|s|m|h)$/.exec(text) ?? [];
  if (unit === undefined) return undefined;
  const milliseconds = Math.round(Number(amount) * UNITS[unit]!);
  return milliseconds > 0 && milliseconds <= MAX_DURATION ? milliseconds : undefined;
}
