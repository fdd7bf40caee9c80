// Whether what rt itself writes is in colour: the `$ command` of a script, lists, the reports of many.

/**
 * NO_COLOR beats FORCE_COLOR, with Node it is the other way round; both beat the terminal.
 *
 * @param isTerminal asked when it matters, of the stream that is written to
 */
export function wantsColor(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: () => boolean,
): boolean {
  if (env.NO_COLOR) return false;
  const forced = env.FORCE_COLOR;
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return env.TERM !== "dumb" && isTerminal();
}
