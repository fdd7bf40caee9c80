// Detects whether a program that rt runs started this process in place of Node.js.
//
// Non-obvious:
// - Such a program starts process.execPath. In scripts, and when rt starts itself, argv[0] differs from that absolute path.
// - All ancestors are searched, because a shell may be between the two processes.
// - On Windows only fork() of node:child_process is detected, by its IPC channel.
import { trees } from "../../platform/processes/process-tree.ts";

export function isOwnChild(): boolean {
  if (process.connected) return true;
  const { argv0, execPath } = process;
  return argv0 === execPath && trees.hasAncestor(execPath);
}
