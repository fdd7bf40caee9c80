// Programs that replace rt in tests: rt itself under another name, and small ones that print a version.
import { constants, readFileSync, writeFileSync } from "node:fs";
import { copyFile, link } from "node:fs/promises";
import { compileOnce } from "./compiled.ts";
import { outputOfProgram } from "../output.ts";
import { RT } from "../rt.ts";

/**
 * Places rt by a hard link where the file system allows it, without copying a hundred megabytes. Replacing one
 * link keeps the others.
 *
 * The links are to a copy of dist/rt, because a new link changes the ctime. A test that checks dist/rt would take it for a file
 * that is being written.
 */
export async function placeRt(path: string, rt?: string): Promise<void> {
  const copy = rt ?? (await compileOnce("copy", (draft) => copyFile(RT, draft, constants.COPYFILE_FICLONE)));
  await link(copy, path).catch(async () => await copyFile(copy, path));
}

/**
 * The system's own Python with its packages. The first one in PATH may belong to a version manager, which another user may not
 * start.
 */
export const PYTHON = "/usr/bin/python3";

/** Compiles C; `source` is the body of main. */
export async function compileProgram(path: string, body: string): Promise<void> {
  const source = `#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void) { ${body} }\n`;
  await outputOfProgram(["cc", "-x", "c", "-o", path, "-"], { stdin: source });
}

/** Where the version is in the compiled program. A C compiler takes longer than the tests of such a program. */
const VERSION = "the version of the program, which ends with a zero byte";

/** Creates a program that prints a version. */
export async function compileVersion(path: string, version: string): Promise<void> {
  const compiled = await compileOnce("version", (draft) =>
    compileProgram(draft, `puts("${VERSION}"); return 0;`),
  );
  const program = readFileSync(compiled);
  program.write(version.padEnd(VERSION.length, "\0"), program.indexOf(VERSION));
  writeFileSync(path, program, { mode: 0o755 });
}
