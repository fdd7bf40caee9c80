// Lists the switches that only the engine handles, as one text. It runs at build time as a macro, so that a start does not load
// the option table.
import { OPTIONS } from "./options.ts";

/** Engine switches that rt handles as well: "interactive" replaces the target, "hot" keeps rt as the engine's parent. */
const SHARED_SWITCHES = ["interactive", "hot"];

/** Returns " --smol --expose-gc ... ", in which the caller searches for " --smol ". */
export function engineSwitches(): string {
  const switches = OPTIONS.filter(
    ({ name, by, value, forward, aliasOf, isHelped }) =>
      by === "engine" && !value && !forward && !aliasOf && !isHelped && !SHARED_SWITCHES.includes(name),
  );
  return ` ${switches.map(({ name }) => `--${name}`).join(" ")} `;
}
