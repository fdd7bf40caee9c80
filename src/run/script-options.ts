// Options that stand in front of a script, a binary or a command of the system: some are rt's to carry out, some
// become part of its environment, and those of the engine have nothing to act on, which is said.
import { files } from "../../platform/files.ts";
import { host } from "../../platform/process.ts";
import { allValues, type Invocation, lastValue, UsageError } from "../cli/parse.ts";

/**
 * Variables for the script: what the files of --env-file say, where the environment does not say it already, and
 * --port as PORT.
 */
export function environmentOf(invocation: Invocation): Record<string, string> {
  const paths = allValues(invocation, "env-file");
  const port = lastValue(invocation, "port");
  return { ...(paths.length > 0 ? readEnvironmentFiles(paths) : {}), ...(port ? { PORT: port } : {}) };
}

/** The engine reads them, so that quotes and references mean what they mean to a program. */
function readEnvironmentFiles(paths: readonly string[]): Record<string, string> {
  const original = host.originalEnvironment();
  const flags = paths.map((path) => `--env-file=${path}`);
  const { stdout } = Bun.spawnSync(
    [process.execPath, `--config=${host.noFile}`, ...flags, "-p", "JSON.stringify(process.env)"],
    { env: { ...original, BUN_BE_BUN: "1" }, stdin: "ignore", stderr: "inherit" },
  );
  const { BUN_BE_BUN: _, ...all } = JSON.parse(stdout.toString()) as Record<string, string>;
  return Object.fromEntries(Object.entries(all).filter(([name]) => !(name in original)));
}

/** The engine would tell of it when the program has ended, and call that a success. Throws UsageError. */
export function requireTsconfig(invocation: Invocation): void {
  const file = lastValue(invocation, "tsconfig-override");
  if (file === undefined || files.readFile(file, 0) !== "ENOENT") return;
  throw new UsageError(`There is no tsconfig "${file}"`, "--tsconfig-override needs a file that exists");
}

/**
 * A line for the user for each file of --env-file that is not there: the engine loads the others and says nothing.
 * Nothing is read of them, since one may be a pipe that gives what it has only once. Throws UsageError.
 */
export function warnAboutFiles(invocation: Invocation): string[] {
  const named = allValues(invocation, "env-file")
    .flatMap((value) => value.split(","))
    .filter((file) => file !== "");
  for (const file of named) refuseEndless(file);
  return named
    .filter((file) => files.readFile(file, 0) === "ENOENT")
    .map((file) => `warning: --env-file: there is no ${file}; mend its path, or take the option away`);
}

/** The engine would read a device without an end, or a file larger than memory. */
function refuseEndless(file: string): void {
  if (isPipe(file) || files.readFile(file) !== "EFBIG") return;
  throw new UsageError(
    `Cannot read ${file}: it is larger than 64 MiB`,
    "--env-file needs a file of variables",
  );
}

function isPipe(file: string): boolean {
  try {
    return process.getBuiltinModule("node:fs").statSync(file).isFIFO();
  } catch {
    return false; // there is none, or it cannot be reached
  }
}

/** A line for the user about options that the target of this run cannot have; undefined when there are none. */
export function warnAboutOptions({ options, target }: Invocation): string | undefined {
  const idle = options.filter(({ option, isConfigured }) => option.by === "engine" && !isConfigured);
  if (idle.length === 0) return undefined;
  const names = [...new Set(idle.map(({ option }) => `--${option.name}`))];
  const verb = names.length === 1 ? "has" : "have";
  const where = target === undefined ? "a list of scripts" : `"${target}"`;
  return (
    `warning: ${names.join(", ")} ${verb} no effect on ${where}, only on code that rt runs itself; ` +
    `write ${names.length === 1 ? "it" : "them"} in the script, as in: rt ${names[0]} <file>`
  );
}
