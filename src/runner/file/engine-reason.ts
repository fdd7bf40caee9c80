// Decides whether a source file needs a start as the engine, or can run in this process in half the time.
//
// Non-obvious: decorator settings of the working directory's tsconfig.json apply before rt's code runs, so they need the
// engine. Entry points that are not source code (pages, WebAssembly, shell scripts) need it too. Part of every start, so it
// reads a file only if it exists.
import { extensionOf, SOURCE_EXTENSIONS } from "../../source-extensions.ts";
import { changesDecorators } from "./tsconfig.ts";

/** Whether the working directory has an rtfig.toml, which may contain settings. */
export function hasConfig(cwd: string): boolean {
  return Bun.file(`${cwd}/rtfig.toml`).size !== 0;
}

/** The reason to start the engine, as RT_DEBUG=plan prints it; undefined without one. */
export function engineReason(path: string, cwd: string): Promise<string | undefined> | string | undefined {
  const extension = extensionOf(path);
  if (extension !== "" && !SOURCE_EXTENSIONS.includes(extension)) return `a ${extension} entry point`;
  return Bun.file(`${cwd}/tsconfig.json`).size === 0 ? undefined : reasonInSettings(cwd);
}

async function reasonInSettings(cwd: string): Promise<string | undefined> {
  return (await changesDecorators(cwd)) ? "decorator settings in tsconfig.json" : undefined;
}
