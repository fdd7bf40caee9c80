// The files that options name: whether they are there, told before anything runs.
import { files } from "../../platform/files.ts";
import { Failure } from "../failure.ts";
import type { CodeSettings } from "./code.ts";

/** The engine would tell of it when the program has ended, and call that a success. Throws Failure. */
export function requireTsconfig({ tsconfig }: CodeSettings): void {
  if (tsconfig === undefined || files.readFile(tsconfig, 1) !== "ENOENT") return;
  throw new Failure(`There is no tsconfig "${tsconfig}"`, "--tsconfig-override needs a file that exists");
}

/** A line for the user for each file of --env-file that is not there: the engine loads the others and says nothing. */
export function warnAboutEnvFiles(envFiles: readonly string[]): string[] {
  return envFiles
    .flatMap((value) => value.split(","))
    .filter((file) => file !== "" && files.readFile(file, 1) === "ENOENT")
    .map((file) => `warning: --env-file: there is no ${file}; mend its path, or take the option away`);
}
