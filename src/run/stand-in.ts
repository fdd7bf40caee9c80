// Directories that make `node` or `rt` mean this program.
//
// Contract (specification, `--rt`): the runtime stands in for Node.js, for a script and everything below it.
// The same is done, unasked, where no `node` is installed at all, and for `rt` where the file that was
// downloaded is not on PATH: a script that says `rt build.ts` must work wherever rt itself was started.
//
// The links live in the user's own temporary directory, which is checked to be the user's: a directory that
// somebody else prepared must not decide what `node` is.

/** What stands in front of PATH; empty when nothing has to. `command` is what is about to run. */
export function standInDirectories(forceRuntime: boolean, path: string, command: string): string[] {
  const names: string[] = [];
  if (forceRuntime || !Bun.which("node", { PATH: path })) names.push("node");
  if (/\brt\b/.test(command) && !Bun.which("rt", { PATH: path })) names.push("rt");
  if (names.length === 0) return [];
  const { makeLinks } = require("../../platform/links.ts") as typeof import("../../platform/links.ts");
  return makeLinks(process.execPath, names);
}
