// Whether what rt itself writes is in colour: the `$ command` of a script, lists, the reports of many.

/**
 * NO_COLOR beats FORCE_COLOR, with Node it is the other way round; both beat the terminal.
 *
 * @param variable looks one up in the environment that rt was started with
 * @param isTerminal asked when it matters, of the stream that is written to
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
