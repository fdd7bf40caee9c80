// What `bun test` gets from those that start it (test/run.ts, test/mutants/run.ts).
import { delimiter } from "node:path";

/** npm puts the binaries of packages in front of PATH; what is tested must neither find nor inherit them. */
const PATH = process.env.PATH?.split(delimiter)
  .filter((entry) => !entry.includes("node_modules"))
  .join(delimiter);

/** @param temporary where all temporary files go */
export function engineEnvironment(temporary: string): Record<string, string | undefined> {
  const places = { TMPDIR: temporary, TMP: temporary, TEMP: temporary };
  // `npm test --silent` is not to silence what is tested.
  const environment = { ...process.env, npm_config_loglevel: undefined };
  return { ...environment, ...places, PATH, FORCE_COLOR: "0", NO_COLOR: "1" };
}
