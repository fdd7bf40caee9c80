// Writes the outputs of a remote task into the package by atomic rename.
//
// Invariants:
// - All outputs are written to a staging directory before an existing file is removed. Each output is then
//   replaced as a whole.
// - No output is written through a symlink whose target is outside the package.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { errorCode } from "../../platform/caught-error.ts";
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import type { ActionOutput } from "../reapi/outputs.ts";

/** Error codes of a rename whose target was created concurrently (race). */
const TARGET_EXISTS: readonly string[] = ["ENOTEMPTY", "EEXIST", "EISDIR", "ENOTDIR"];
const MAX_ATTEMPTS = 100;

/** @param directory the package's @param roots the existing outputs @param contents by hash @throws UserError */
export function writeOutputs(
  directory: string,
  roots: readonly string[],
  outputs: readonly ActionOutput[],
  contents: ReadonlyMap<string, Uint8Array>,
): void {
  if (roots.length === 0) return;
  let stage: string | undefined;
  try {
    for (const root of roots) requireInside(directory, root);
    stage = mkdtempSync(join(directory, ".rt-remote-"));
    writeAll(stage, outputs, contents);
    for (const root of roots) replaceOutput(join(stage, root), join(directory, root), join(stage, ".backup"));
  } catch (error) {
    if ((error as Error).name === "UserError") throw error;
    const { code, path = directory } = error as NodeJS.ErrnoException;
    throw new UserError(
      `Cannot write the outputs of the script to ${oneLine(path)}: ${code ?? String(error)}`,
    );
  } finally {
    if (stage !== undefined) rmSync(stage, { recursive: true, force: true });
  }
}

function writeAll(
  stage: string,
  outputs: readonly ActionOutput[],
  contents: ReadonlyMap<string, Uint8Array>,
): void {
  for (const output of outputs) {
    const path = join(stage, output.path);
    mkdirSync(output.kind === "directory" ? path : dirname(path), { recursive: true });
    if (output.kind === "file") {
      writeFileSync(path, contents.get(output.digest.hash)!, { flag: "wx" });
      if (output.isExecutable) chmodSync(path, 0o755);
    }
  }
  // Symlinks are created last, so that nothing is written through them.
  for (const output of outputs)
    if (output.kind === "link") symlinkSync(output.target, join(stage, output.path));
}

/** Retries, because another rt process may replace the same output concurrently. */
function replaceOutput(source: string, target: string, backup: string): void {
  mkdirSync(dirname(target), { recursive: true });
  for (let attempt = 1; ; attempt++) {
    try {
      renameSync(target, backup);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
    try {
      renameSync(source, target);
      return;
    } catch (error) {
      const isTaken = TARGET_EXISTS.includes(errorCode(error) ?? "");
      if (!isTaken || attempt === MAX_ATTEMPTS) throw error;
    } finally {
      rmSync(backup, { recursive: true, force: true });
    }
  }
}

/** Parent directories of an output may be symlinks that stay inside the package. */
function requireInside(directory: string, output: string): void {
  const realDirectory = realpathSync(directory);
  for (
    let parent = dirname(join(realDirectory, output));
    parent !== realDirectory;
    parent = dirname(parent)
  ) {
    if (!lstatSync(parent, { throwIfNoEntry: false })) continue;
    const path = relative(realDirectory, realpathSync(parent));
    if (path === ".." || path.startsWith("../"))
      throw new UserError(`The output ${oneLine(output)} is behind a symlink that leads out of the package`);
  }
}
