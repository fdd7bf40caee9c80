// Describes refusals of tasks with permissions, and the line of rtfig.toml that allows them.
import type { RefusedCall } from "../../platform/permissions/contract/permissions.ts";
import { configHint } from "../config-hint.ts";
import { ALL_HOSTS } from "../config/tasks/permission-table.ts";
import { printable } from "../printable.ts";

/** The C library tries these sockets for names of hosts and users, and works without them. */
const LOOKUP_SOCKETS = /^\/run\/(?:nscd\/socket|systemd\/(?:userdb\/.*|resolve\/io\.systemd\.Resolve))$/;

/** Returns a sentence; undefined for a refusal without an effect. @param task the name of the row in [tasks] */
export function describeRefusal(label: string, task: string, refusal: RefusedCall): string | undefined {
  const { kind, program, pid, target } = refusal;
  if (kind === "socket" && LOOKUP_SOCKETS.test(target)) return undefined;
  const process = `${printable(program)} (process ${pid})`;
  const allow = (key: string, entry: string) => configHint(["tasks", task, "permissions", key], [entry]);
  switch (kind) {
    case "host":
      return `${label} was refused: ${process} connects to ${printable(target)}; to allow all hosts, ${allow("hosts", ALL_HOSTS)}`;
    case "socket":
      return `${label} was refused: ${process} connects to the socket ${printable(target)}; to allow it, ${allow("sockets", target)}`;
    case "abstract":
      return `${label} was refused: ${process} connects to the abstract socket @${printable(target)}, which no permission allows`;
    case "mode":
      return `${label} was refused: ${process} changes the mode of ${printable(target)}, which it may not write`;
    case "container":
      return `${label} was refused: ${process} connects, but this container forbids pidfd_getfd, which permissions need for connections`;
  }
}

/** Returns a hint after a task with permissions has failed. The kernel reports refused files to the program only. */
export function describeFailure(label: string): string {
  return `${label} ran with permissions; if a file was closed to it ("Permission denied"), see rt help permissions, or try rt run --no-permissions`;
}
