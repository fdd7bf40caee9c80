// The files that options name: whether they are there, told before anything runs.
import { files } from "../../platform/files.ts";
import { Failure } from "../failure.ts";
import { printable } from "../printable.ts";
import type { CodeSettings } from "../settings/code.ts";

/** The engine would tell of it when the program has ended, and call that a success. Throws Failure. */
export function requireTsconfig({ tsconfig }: CodeSettings): void {
  if (tsconfig === undefined || files.readFile(tsconfig, 0) !== "ENOENT") return;
  throw new Failure(`There is no tsconfig "${tsconfig}"`, "--tsconfig-override needs a file that exists");
}

/**
 * A line for the user for each file of --env-file that is not there: the engine loads the others and says nothing.
 * Nothing is read of them, since one may be a pipe that gives what it has only once. Throws Failure.
 */
export function warnAboutEnvFiles(envFiles: readonly string[]): string[] {
  const named = envFiles.flatMap((value) => value.split(",")).filter((file) => file !== "");
  for (const file of named) refuseEndless(file);
  return named
    .filter((file) => files.readFile(file, 0) === "ENOENT")
    .map(
      (file) => `warning: --env-file: there is no ${printable(file)}; mend its path, or take the option away`,
    );
}

/** The engine would read a device without an end, or a file larger than memory. */
function refuseEndless(file: string): void {
  if (isPipe(file) || files.readFile(file) !== "EFBIG") return;
  throw new Failure(
    `Cannot read ${printable(file)}: it is larger than 64 MiB`,
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
