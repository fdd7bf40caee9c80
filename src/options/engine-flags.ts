// The switches that the engine alone acts on, as one text. Called while the program is built (a macro), so that a start
// knows them without the table that they stand in.
import { OPTIONS } from "./options.ts";

/** The first takes the place of a target, the second keeps rt as the engine's parent. */
const NOT_ALONE = ["interactive", "hot"];

/** " --smol --expose-gc ... ", to be looked into for " --smol ". */
export function engineSwitches(): string {
  const switches = OPTIONS.filter(
    ({ name, by, value, forward, aliasOf, isHelped }) =>
      by === "engine" && !value && !forward && !aliasOf && !isHelped && !NOT_ALONE.includes(name),
  );
  return ` ${switches.map(({ name }) => `--${name}`).join(" ")} `;
}
