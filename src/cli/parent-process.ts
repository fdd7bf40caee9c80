// Who has started this process: a program that rt runs, or somebody else.
//
// A program starts what it believes to be Node.js: by process.execPath, the whole path, which is not what rt is called
// by in a script, or by rt itself. A shell may stand between. On Windows only fork() of node:child_process is seen, by
// its channel for messages.
import { trees } from "../../platform/processes/process-tree.ts";

export function isOwnChild(): boolean {
  if (process.connected) return true;
  const { argv0, execPath } = process;
  return argv0 === execPath && trees.hasAncestor(execPath);
}
