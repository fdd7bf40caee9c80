// The environment and options of `bun test` for test/run.ts and test/mutants/run.ts.
import { delimiter } from "node:path";

/** A version manager's directory of scripts that search the program that they start, which takes longer than most programs. */
const isShims = (entry: string) => /[\\/]shims[\\/]?$/.test(entry);

/**
 * npm puts the binaries of packages first in PATH; rt must neither find nor inherit them. Directories of shims are last, so that
 * the tests start the system's own programs where it has them.
 */
const PATH = process.env.PATH?.split(delimiter)
  .filter((entry) => !entry.includes("node_modules"))
  .toSorted((one, other) => Number(isShims(one)) - Number(isShims(other)))
  .join(delimiter);

/** @param temporary the directory of all temporary files */
export function engineEnvironment(temporary: string): Record<string, string | undefined> {
  const places = { TMPDIR: temporary, TMP: temporary, TEMP: temporary };
  // `npm test --silent` must not silence rt.
  const environment = { ...process.env, npm_config_loglevel: undefined };
  return { ...environment, ...places, PATH, FORCE_COLOR: "0", NO_COLOR: "1" };
}
