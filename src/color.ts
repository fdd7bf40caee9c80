// Decides whether rt colours its own output: the `$ command` line of a script, lists and reports.

/**
 * NO_COLOR overrides FORCE_COLOR (in Node.js it is the other way round); both override the terminal check.
 *
 * @param variable reads a variable of the environment that rt was started with
 * @param isTerminal whether the output stream is a terminal; called only if no variable decides
 */
export function wantsColor(
  variable: (name: string) => string | undefined,
  isTerminal: () => boolean,
): boolean {
  if (variable("NO_COLOR")) return false;
  const forced = variable("FORCE_COLOR");
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return variable("TERM") !== "dumb" && isTerminal();
}
