// Reads the variables of an env file with the engine, so that quotes, comments and references mean what they mean in a run.
//
// Invariants:
// - Values pass through a pipe, never through arguments. The engine reads only this file: no configuration, code or other env
//   file of the project.
import { basename, dirname } from "node:path";
import { host } from "../../../platform/processes/process.ts";
import { printable } from "../../printable.ts";
import { ArgumentError } from "../command-arguments.ts";

/**
 * Returns the variables of an env file, as if the environment had none of them.
 * @param path absolute path
 * @param own names that the file assigns
 * @throws ArgumentError
 */
export function readEngineValues(path: string, own: ReadonlySet<string>): Map<string, string> {
  // The engine splits --env-file at commas. It runs in the file's folder, so only the name matters.
  const name = basename(path);
  if (name.includes(","))
    throw new ArgumentError(
      `${printable(name)} has a comma in its name, which the engine reads as two files`,
      "give it another name",
    );
  const inheritedEnv = Object.entries(host.originalEnvironment()).filter(([name]) => !own.has(name));
  const env = new Map([...inheritedEnv, ["BUN_BE_BUN", "1"]] as [string, string][]);
  const { stdout, exitCode, signalCode } = Bun.spawnSync(
    [process.execPath, `--config=${host.noFile}`, `--env-file=${name}`, "-p", "JSON.stringify(process.env)"],
    { cwd: dirname(path), env: Object.fromEntries(env), stdin: "ignore", stderr: "ignore" },
  );
  try {
    if (exitCode !== 0) throw new Error();
    const all = JSON.parse(stdout.toString()) as Record<string, string>;
    return new Map(Object.entries(all).filter(([name]) => own.has(name)));
  } catch {
    throw new ArgumentError(
      signalCode
        ? `Interrupted by ${signalCode}, so nothing was changed`
        : `${printable(path)} could not be read as an env file`,
    );
  } finally {
    stdout.fill(0);
  }
}
