// Directories that make `node`, `rt` or `bun` mean this program.
//
// Contract (specification, `--rt`): the runtime stands in for Node.js, for a script and everything below it.
// The same is done, unasked, where no `node` is installed at all, and for `rt` where the file that was
// downloaded is not on PATH: a script that says `rt build.ts` must work wherever rt itself was started. So must
// the scripts of a project written for Bun, whose commands rt has, where Bun is not installed.
//
// The links live in a directory that is checked to be the user's own: one that somebody else prepared must not decide
// what `node` is. Where there is no place for it, a run goes on without: few scripts need what is not installed, and those
// say so. With --rt there is a warning; what rt starts itself in the place of Node.js needs no link (target/resolution.ts).
import { errorMessage } from "../../../platform/caught-error.ts";
import { activeLookupRecorder } from "../../../platform/files/lookup-recorder.ts";
import { host } from "../../../platform/processes/process.ts";
import { findOnPath } from "../../../platform/processes/program-search.ts";

/** Stood in for where a command mentions them and PATH has none. */
const MENTIONED = ["rt", "bun", "bunx"] as const;
type Mentioned = (typeof MENTIONED)[number];

export interface PathShims {
  /** The directory with `node`, where it has to be one of ours. */
  readonly node?: string;
  /** `node`, as the scripts will find it; rt itself where it stands in. */
  readonly nodePath: string;
  /** The directory with one of the others, where it is not on PATH. Made when it is asked for. */
  of(name: Mentioned): string | undefined;
}

export function openStandIns(forceRuntime: boolean, path: string): PathShims {
  const installed = forceRuntime ? null : findOnPath("node", { PATH: path });
  const made = new Map<Mentioned, string | undefined>();
  return {
    node: forceRuntime ? tryLink("node", warnOfNode) : installed === null ? tryLink("node") : undefined,
    nodePath: installed ?? process.execPath,
    of(name) {
      if (!made.has(name)) made.set(name, findOnPath(name, { PATH: path }) ? undefined : tryLink(name));
      return made.get(name);
    },
  };
}

/** What stands in front of PATH for a command; empty when nothing has to. */
export function directoriesFor(stands: PathShims, command: string): string[] {
  const directories = stands.node === undefined ? [] : [stands.node];
  if (!command.includes("rt") && !command.includes("bun")) return directories; // without a pattern
  for (const name of MENTIONED) {
    const directory = new RegExp(`\\b${name}\\b`).test(command) ? stands.of(name) : undefined;
    if (directory !== undefined) directories.push(directory);
  }
  return directories;
}

/**
 * PATH for what the engine starts, where it has to be another: with --rt, `node` is to be rt; and tools start scripts of
 * packages, in which rt stands in for what they mention as it does in `rt run`.
 */
export function pathForEngine(isForced: boolean, mentions: string): string | undefined {
  const PATH = host.originalVariable("PATH") ?? "";
  const directories = directoriesFor(openStandIns(isForced, PATH), mentions);
  if (directories.length === 0) return undefined;
  return [...directories, ...(PATH === "" ? [] : [PATH])].join(host.pathSeparator);
}

function tryLink(name: string, onFailure?: (message: string) => void): string | undefined {
  try {
    return makeLink(name);
  } catch (error) {
    if ((error as Error).name !== "PrivateDirectoryError") throw error;
    onFailure?.(errorMessage(error));
    return undefined;
  }
}

let isWarned = false;

/** Once in a run, however many scripts it has. */
function warnOfNode(reason: string): void {
  if (isWarned) return;
  isWarned = true;
  // Imported here: its patterns would be made at every start of a script.
  const { oneLine } = require("../../printable.ts") as typeof import("../../printable.ts");
  const { reportLine } = require("../../output.ts") as typeof import("../../output.ts");
  reportLine(`warning: --rt does not change what "node" means to the programs below. ${oneLine(reason)}`);
}

function makeLink(name: string): string {
  // It is made again where it is not there, whoever has taken it away.
  const seen = activeLookupRecorder();
  if (seen) seen.isWhole = false;
  const links =
    require("../../../platform/files/shim-links.ts") as typeof import("../../../platform/files/shim-links.ts");
  return links.makeLink(process.execPath, name);
}
