// What a script has made elsewhere, put where it would have made it here.
//
// Contract: all of it is on the disk, beside its place, before anything that was there goes; then each output is exchanged
// whole. Nothing is written through a link that leads out of the package.
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

/** What the system says where something is that was not there a moment ago. */
const TAKEN: readonly string[] = ["ENOTEMPTY", "EEXIST", "EISDIR", "ENOTDIR"];
const EXCHANGES = 100;

/** @param directory the package's @param roots the outputs that there are; `contents` by hash. Throws Failure. */
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
    for (const root of roots) exchange(join(stage, root), join(directory, root), join(stage, ".before"));
  } catch (error) {
    if ((error as Error).name === "Failure") throw error;
    const { code, path = directory } = error as NodeJS.ErrnoException;
    throw new UserError(
      `Cannot write what the script has made, at ${oneLine(path)}: ${code ?? String(error)}`,
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
  // Last, so that nothing is written through one.
  for (const output of outputs)
    if (output.kind === "link") symlinkSync(output.target, join(stage, output.path));
}

/** Another rt may do the same at the same time. */
function exchange(made: string, place: string, before: string): void {
  mkdirSync(dirname(place), { recursive: true });
  for (let attempt = 1; ; attempt++) {
    try {
      renameSync(place, before);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
    try {
      renameSync(made, place);
      return;
    } catch (error) {
      const isTaken = TAKEN.includes(errorCode(error) ?? "");
      if (!isTaken || attempt === EXCHANGES) throw error;
    } finally {
      rmSync(before, { recursive: true, force: true });
    }
  }
}

/** The directories above an output may be links, as far as they stay in the package. */
function requireInside(directory: string, output: string): void {
  const home = realpathSync(directory);
  for (let parent = dirname(join(home, output)); parent !== home; parent = dirname(parent)) {
    if (!lstatSync(parent, { throwIfNoEntry: false })) continue;
    const way = relative(home, realpathSync(parent));
    if (way === ".." || way.startsWith("../"))
      throw new UserError(`The output ${oneLine(output)} lies behind a link that leads out of the package`);
  }
}
