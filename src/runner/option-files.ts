// Checks files that options name before anything runs.
import { errorCode } from "../../platform/caught-error.ts";
import { files } from "../../platform/files/files.ts";
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";
import type { CodeSettings } from "../config/settings/code.ts";
import { isExplicitPath } from "./resolve/target.ts";

/** The engine would report it at the end of the program, with exit code 0. @throws UserError */
export function requireTsconfig({ tsconfig }: CodeSettings): void {
  if (tsconfig === undefined || files.readFile(tsconfig, 0) !== "ENOENT") return;
  throw new UserError(`No such file: tsconfig "${tsconfig}"`, "pass an existing file to --tsconfig-override");
}

/**
 * Package names are left to the engine, which may fetch them or find them by other options.
 * @throws UserError for a file that does not exist
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
 * Warnings for --env-file files that cannot be read; the engine silently skips them. A pipe is not opened, because
 * its content can be read only once. @throws UserError
 */
export function warnAboutEnvFiles(envFiles: readonly string[]): string[] {
  const named = envFiles.flatMap((value) => value.split(",")).filter((file) => file !== "");
  const kinds = named.map((file) => ({ file, kind: kindOf(file) }));
  for (const { file, kind } of kinds) if (kind === "other") rejectEndless(file);
  return kinds.flatMap(({ file, kind }) => {
    const problem = PROBLEMS[kind]?.(printable(file));
    return problem ? `warning: --env-file: ${problem}; correct its path, or remove the option` : [];
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

/** Rejects a file that is larger than memory or a device without an end. */
function rejectEndless(file: string): void {
  if (files.readFile(file) !== "EFBIG") return;
  throw new UserError(
    `Cannot read ${printable(file)}: it is larger than 64 MiB`,
    "--env-file needs a file of variables",
  );
}
