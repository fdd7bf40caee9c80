// Programs for tests that exchange rt for another: rt itself under another name, and tiny ones that say a version.
import { outputOfProgram } from "./output.ts";
import { copyFile, link } from "node:fs/promises";
import { RT } from "./rt.ts";

/** Without copying its hundred megabytes, where the file system allows it. What replaces a link leaves dist/rt alone. */
export async function placeRt(path: string, rt = RT): Promise<void> {
  await link(rt, path).catch(async () => await copyFile(rt, path));
}

/** Compiles C; `source` is the body of main. */
export async function compileProgram(path: string, body: string): Promise<void> {
  const source = `#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void) { ${body} }\n`;
  await outputOfProgram(["cc", "-x", "c", "-o", path, "-"], { stdin: source });
}

export async function compileVersion(path: string, version: string): Promise<void> {
  await compileProgram(path, `puts("${version}"); return 0;`);
}
