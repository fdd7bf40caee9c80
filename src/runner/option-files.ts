// The files that options name: whether they are there, told before anything runs.
import { errorCode } from "../../platform/caught-error.ts";
import { files } from "../../platform/files/files.ts";
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";
import type { CodeSettings } from "../config/settings/code.ts";
import { isExplicitPath } from "./resolve/target.ts";

/** The engine would tell of it when the program has ended, and call that a success. Throws Failure. */
export function requireTsconfig({ tsconfig }: CodeSettings): void {
  if (tsconfig === undefined || files.readFile(tsconfig, 0) !== "ENOENT") return;
  throw new UserError(`There is no tsconfig "${tsconfig}"`, "--tsconfig-override needs a file that exists");
}

/**
 * Throws Failure for a module that the engine would not find either. The engine decides about names of packages: it may
 * fetch them, or find them by other options.
 */
export function requirePreloads({ preloads, tsconfig }: CodeSettings, cwd: string): void {
  for (const { module, origin } of preloads) {
    if (isResolved(module, cwd)) continue;
    const isPath = isExplicitPath(module);
    if (!isPath && (tsconfig !== undefined || !isResolved(`./${module}`, cwd))) continue;
    throw new UserError(
      `${origin}: Module not found "${printable(module)}"`,
      isPath
        ? "its path is relative to the working directory"
        : `a file is written as ./${printable(module)}`,
    );
  }
}

function isResolved(module: string, cwd: string): boolean {
  try {
    Bun.resolveSync(module, cwd);
    return true;
  } catch {
    return false;
  }
}

/**
 * A line for the user for each file of --env-file that is none: the engine loads the others and says nothing. A pipe is not
 * even opened, since it gives what it has only once, and to the first who opens it. Throws Failure.
 */
export function warnAboutEnvFiles(envFiles: readonly string[]): string[] {
  const named = envFiles.flatMap((value) => value.split(",")).filter((file) => file !== "");
  const kinds = named.map((file) => ({ file, kind: kindOf(file) }));
  for (const { file, kind } of kinds) if (kind === "other") refuseEndless(file);
  return kinds.flatMap(({ file, kind }) => {
    const problem = PROBLEMS[kind]?.(printable(file));
    return problem ? `warning: --env-file: ${problem}; mend its path, or take the option away` : [];
  });
}

type OptionFileKind = "missing" | "unreadable" | "directory" | "pipe" | "other";

const PROBLEMS: { readonly [kind in OptionFileKind]?: (file: string) => string } = {
  missing: (file) => `there is no ${file}`,
  unreadable: (file) => `${file} cannot be read`,
  directory: (file) => `${file} is a directory`,
};

function kindOf(file: string): OptionFileKind {
  try {
    const state = process.getBuiltinModule("node:fs").statSync(file);
    return state.isFIFO() ? "pipe" : state.isDirectory() ? "directory" : "other";
  } catch (error) {
    const code = errorCode(error) ?? "";
    return ["ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(code) ? "missing" : "unreadable";
  }
}

/** The engine would read a device without an end, or a file larger than memory. */
function refuseEndless(file: string): void {
  if (files.readFile(file) !== "EFBIG") return;
  throw new UserError(
    `Cannot read ${printable(file)}: it is larger than 64 MiB`,
    "--env-file needs a file of variables",
  );
}
