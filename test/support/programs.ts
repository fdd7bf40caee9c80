// Programs for tests that exchange rt for another: rt itself under another name, and tiny ones that say a version.
import { copyFile, link } from "node:fs/promises";
import { RT } from "./rt.ts";

/** Without copying its hundred megabytes, where the file system allows it. What replaces a link leaves dist/rt alone. */
export async function placeRt(path: string): Promise<void> {
  await link(RT, path).catch(async () => await copyFile(RT, path));
}

/** Compiles C; `source` is the body of main. */
export async function compileProgram(path: string, body: string): Promise<void> {
  const source = `#include <stdio.h>\n#include <unistd.h>\nint main(void) { ${body} }\n`;
  const compiler = Bun.spawn(["cc", "-x", "c", "-o", path, "-"], {
    stdin: Buffer.from(source),
    stderr: "pipe",
  });
  if ((await compiler.exited) !== 0) throw new Error(await new Response(compiler.stderr).text());
}

export async function compileVersion(path: string, version: string): Promise<void> {
  await compileProgram(path, `puts("${version}"); return 0;`);
}
