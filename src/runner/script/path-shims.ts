// Shim directories that make `node`, `rt` or `bun` refer to this program.
//
// Invariants (specification, `--rt`):
// - With --rt, rt replaces Node.js for a script and all its descendants. Without it only if no `node` is installed,
//   and `rt` and Bun's commands only if they are not on PATH.
// - The shim directory is verified to belong to the user: another user's directory must not decide what `node` is.
// - If it cannot be created, the run continues without shims; with --rt rt prints a warning.
import { errorMessage } from "../../../platform/caught-error.ts";
import { activeLookupRecorder } from "../../../platform/files/lookup-recorder.ts";
import { host } from "../../../platform/processes/process.ts";
import { findOnPath } from "../../../platform/processes/program-search.ts";

/** Shims that are created if PATH has none and a command mentions them. In a project with bun.lock, turbo and nx start `bun`. */
const MENTIONS = { rt: "rt", bun: "bun|turbo|nx", bunx: "bunx" } as const;
const WORDS = ["rt", "bun", "turbo", "nx"];
type Mentioned = keyof typeof MENTIONS;

export interface PathShims {
  /** The shim directory with `node`, if one is needed. */
  readonly node?: string;
  /** The path of `node` that scripts find; rt itself with a shim. */
  readonly nodePath: string;
  /** The shim directory with another program, if it is not on PATH. Created on demand. */
  of(name: Mentioned): string | undefined;
}

export function openPathShims(forceRuntime: boolean, path: string): PathShims {
  const installed = forceRuntime ? null : findOnPath("node", { PATH: path });
  const made = new Map<Mentioned, string | undefined>();
  return {
    node: forceRuntime ? tryLink("node", warnAboutNode) : installed === null ? tryLink("node") : undefined,
    nodePath: installed ?? process.execPath,
    of(name) {
      if (!made.has(name)) made.set(name, findOnPath(name, { PATH: path }) ? undefined : tryLink(name));
      return made.get(name);
    },
  };
}

/** Directories to put in front of PATH for a command. */
export function directoriesFor(shims: PathShims, command: string): string[] {
  const directories = shims.node === undefined ? [] : [shims.node];
  if (!WORDS.some((word) => command.includes(word))) return directories; // faster than a regular expression
  for (const [name, words] of Object.entries(MENTIONS) as [Mentioned, string][]) {
    const directory = new RegExp(`\\b(?:${words})\\b`).test(command) ? shims.of(name) : undefined;
    if (directory !== undefined) directories.push(directory);
  }
  return directories;
}

/**
 * PATH for processes that the engine starts; undefined if it is unchanged. With --rt `node` is rt, and lifecycle
 * scripts of packages find the programs that they mention.
 */
export function pathForEngine(isForced: boolean, mentions: string): string | undefined {
  const PATH = host.originalVariable("PATH") ?? "";
  const directories = directoriesFor(openPathShims(isForced, PATH), mentions);
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

/** Warns once in a run. */
function warnAboutNode(reason: string): void {
  if (isWarned) return;
  isWarned = true;
  // Imported on demand: its regular expressions would be created at every start of a script.
  const { oneLine } = require("../../printable.ts") as typeof import("../../printable.ts");
  const { reportLine } = require("../../output.ts") as typeof import("../../output.ts");
  reportLine(`warning: --rt cannot replace "node" for child processes. ${oneLine(reason)}`);
}

function makeLink(name: string): string {
  const links =
    require("../../../platform/files/shim-links.ts") as typeof import("../../../platform/files/shim-links.ts");
  const directory = links.makeLink(process.execPath, name);
  activeLookupRecorder()?.note(`${directory}/${name}`, "content", true);
  return directory;
}
