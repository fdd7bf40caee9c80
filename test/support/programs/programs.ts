// Programs for tests that exchange rt for another: rt itself under another name, and tiny ones that say a version.
import { constants } from "node:fs";
import { copyFile, link } from "node:fs/promises";
import { compiledOnce } from "./compiled.ts";
import { outputOfProgram } from "../output.ts";
import { RT } from "../rt.ts";

/**
 * Without copying its hundred megabytes each time, where the file system allows it. What replaces a link leaves the others
 * alone. The links are of a copy, since a link more or less changes when dist/rt was last changed: what reads that
 * file in another test at that moment would take it for one that is being written.
 */
export async function placeRt(path: string, rt?: string): Promise<void> {
  const copy = rt ?? (await compiledOnce("copy", (draft) => copyFile(RT, draft, constants.COPYFILE_FICLONE)));
  await link(copy, path).catch(async () => await copyFile(copy, path));
}

/**
 * The system's own, with what its packages bring. The first in PATH may be one that a version manager stands for, which
 * another user may not start.
 */
export const PYTHON = "/usr/bin/python3";

/** Compiles C; `source` is the body of main. */
export async function compileProgram(path: string, body: string): Promise<void> {
  const source = `#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void) { ${body} }\n`;
  await outputOfProgram(["cc", "-x", "c", "-o", path, "-"], { stdin: source });
}

export async function compileVersion(path: string, version: string): Promise<void> {
  await compileProgram(path, `puts("${version}"); return 0;`);
}
