// What a file of variables means to a program: the engine reads it, so that quotes, comments and references mean here
// what they mean there.
//
// Contract: values come through a pipe and stand in no argument. The engine reads this one file: no settings, no code and
// no other file of the project.
import { basename, dirname } from "node:path";
import { host } from "../../../platform/processes/process.ts";
import { printable } from "../../printable.ts";
import { ArgumentError } from "../command-arguments.ts";

/**
 * The variables of the file at an absolute path, as they are where the environment has none of `own`, the names that the
 * file assigns. Throws WordsError.
 */
export function readEngineValues(path: string, own: ReadonlySet<string>): Map<string, string> {
  // Of what has a comma the engine makes two files; folders with one it need not be told of.
  const name = basename(path);
  if (name.includes(","))
    throw new ArgumentError(
      `${printable(name)} has a comma in its name, which the engine reads as two files`,
      "give it another name",
    );
  const original = Object.entries(host.originalEnvironment()).filter(([name]) => !own.has(name));
  const before = new Map([...original, ["BUN_BE_BUN", "1"]] as [string, string][]);
  const { stdout, exitCode, signalCode } = Bun.spawnSync(
    [process.execPath, `--config=${host.noFile}`, `--env-file=${name}`, "-p", "JSON.stringify(process.env)"],
    { cwd: dirname(path), env: Object.fromEntries(before), stdin: "ignore", stderr: "ignore" },
  );
  try {
    if (exitCode !== 0) throw new Error();
    const all = JSON.parse(stdout.toString()) as Record<string, string>;
    return new Map(Object.entries(all).filter(([name]) => own.has(name)));
  } catch {
    throw new ArgumentError(
      signalCode
        ? `Interrupted by ${signalCode}, so nothing was changed`
        : `${printable(path)} could not be read as a file of variables`,
    );
  } finally {
    stdout.fill(0);
  }
}
