// Whether a source file can run inside this process, or needs the engine's own start.
//
// In this process it starts in half the time, but some things are decided before our code runs, so for them
// the engine must start anew: decorator settings of tsconfig.json (only the working directory's file counts,
// with what it extends), and files whose extension is not that of source code, of which the engine's entry point makes
// more than an import does: pages, WebAssembly, scripts for its shell. This is on the way of every start, so a file is read
// only when there is one.
import { extensionOf, SOURCE_EXTENSIONS } from "../../source-extensions.ts";
import { changesDecorators } from "./tsconfig.ts";

/** Whether the working directory has a configuration of ours, which then has its say. */
export function hasConfig(cwd: string): boolean {
  return Bun.file(`${cwd}/rtfig.toml`).size !== 0;
}

/** The reason to start the engine anew, for the plan's printout; undefined when there is none. */
export function engineReason(path: string, cwd: string): Promise<string | undefined> | string | undefined {
  const extension = extensionOf(path);
  if (extension !== "" && !SOURCE_EXTENSIONS.includes(extension)) return `a ${extension} entry point`;
  return Bun.file(`${cwd}/tsconfig.json`).size === 0 ? undefined : reasonInSettings(cwd);
}

async function reasonInSettings(cwd: string): Promise<string | undefined> {
  return (await changesDecorators(cwd)) ? "decorator settings in tsconfig.json" : undefined;
}
