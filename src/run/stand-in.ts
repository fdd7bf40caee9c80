// Directories that make `node` or `rt` mean this program.
//
// Contract (specification, `--rt`): the runtime stands in for Node.js, for a script and everything below it.
// The same is done, unasked, where no `node` is installed at all, and for `rt` where the file that was
// downloaded is not on PATH: a script that says `rt build.ts` must work wherever rt itself was started.
//
// The links live in the user's own temporary directory, which is checked to be the user's: a directory that
// somebody else prepared must not decide what `node` is.

export interface StandIns {
  /** The directory with `node`, where it has to be one of ours. */
  readonly node?: string;
  /** The directory with `rt`, where it is not on PATH. Made when a command mentions it. */
  rt(): string | undefined;
}

export function openStandIns(forceRuntime: boolean, path: string): StandIns {
  const isOnPath = (name: string) => Bun.which(name, { PATH: path }) !== null;
  const node = forceRuntime || !isOnPath("node") ? makeLink("node") : undefined;
  let rt: string | null | undefined;
  return {
    node,
    rt() {
      rt ??= isOnPath("rt") ? null : makeLink("rt");
      return rt ?? undefined;
    },
  };
}

/** What stands in front of PATH for a command; empty when nothing has to. */
export function directoriesFor(stands: StandIns, command: string): string[] {
  const directories = stands.node === undefined ? [] : [stands.node];
  const rt = command.includes("rt") && /\brt\b/.test(command) ? stands.rt() : undefined;
  return rt === undefined ? directories : [...directories, rt];
}

function makeLink(name: string): string {
  const links = require("../../platform/links.ts") as typeof import("../../platform/links.ts");
  return links.makeLink(process.execPath, name);
}
