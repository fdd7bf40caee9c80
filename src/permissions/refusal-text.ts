// Describes refusals of tasks with permissions, and the line of rtfig.toml that allows them.
import type { RefusedCall } from "../../platform/permissions/contract/permissions.ts";
import { configHint, tomlKey, tomlValue } from "../config-hint.ts";
import type { PermissionTable } from "../config/tasks/permission-table.ts";
import { oneLine, printable } from "../printable.ts";
import { isClosedEnvFile } from "./closed-env-file.ts";
import type { ExplainedRefusal } from "./step-permissions.ts";
import { listWith } from "./table-proposal.ts";
import { type EntryBase, entryFor, type TableEntry } from "./table-entries.ts";

/** The C library tries these sockets for names of hosts and users, and works without them. */
const LOOKUP_SOCKETS = /^\/run\/(?:nscd\/socket|systemd\/(?:userdb\/.*|resolve\/io\.systemd\.Resolve))$/;

export interface RefusedTask {
  readonly label: string;
  /** The section of rtfig.toml with its permissions; undefined for a file, code or a program. */
  readonly section: readonly string[] | undefined;
  readonly table: PermissionTable;
  readonly base: EntryBase;
  /** Folders of other packages, whose env files no entry opens. */
  readonly otherPackages: readonly string[];
}

/** Returns undefined for a refusal without an effect. */
export function explainRefusal(task: RefusedTask, refusal: RefusedCall): ExplainedRefusal | undefined {
  if (refusal.kind === "socket" && LOOKUP_SOCKETS.test(refusal.target)) return undefined;
  const entry = isClosedEnvFile(refusal.target, task.otherPackages)
    ? undefined
    : entryFor(refusal, task.base);
  const process = `${printable(refusal.program)} (process ${refusal.pid})`;
  const start = `${task.label} was refused: ${process} ${describeCall(refusal)}`;
  const values = entry && listWith(task.table, entry, task.base);
  const port = entry && refusal.kind === "name" ? " (or with another port)" : "";
  return {
    ...refusal,
    message: entry
      ? `${start}; ${describeEntry(entry, values!, task)}${port}`
      : `${start}${describeEnd(refusal)}`,
    allow: entry && `${tomlKey(entry.key)} = ${tomlValue(values!)}`,
  };
}

/** A list that exists is shown with its new entry, because a key can occur once only. */
function describeEntry(
  { key }: TableEntry,
  values: readonly string[],
  { section, table }: RefusedTask,
): string {
  if (!section)
    return `to allow it, make it a task of rtfig.toml with ${tomlKey(key)} = ${tomlValue(values)}`;
  const hint = configHint([...section, key], values);
  return `to allow it, ${table[key] ? hint.replace(/^add to/, "change in") : hint}`;
}

function describeCall({ kind, target }: RefusedCall): string {
  switch (kind) {
    case "read":
      return `reads ${printable(target)}`;
    case "write":
      return `writes ${printable(target)}`;
    case "host":
      return `connects to ${printable(target)}`;
    case "name":
      return `looks up the host ${printable(target)}`;
    case "answer":
      return `looks up the host ${printable(target)}, whose address is that of this machine or its link`;
    case "private":
      return `looks up the host ${printable(target)}, whose address is private, by a wildcard`;
    case "socket":
      return `connects to the socket ${printable(target)}`;
    case "abstract":
      return `connects to the abstract socket @${printable(target)}`;
    case "mode":
      return `changes the mode of ${printable(target)}`;
    case "owner":
      return `changes the owner of ${printable(target)}`;
    case "container":
      return "connects";
  }
}

function describeEnd({ kind }: RefusedCall): string {
  switch (kind) {
    case "mode":
    case "owner":
      return ", which it may not write";
    case "container":
      return ", but this container forbids pidfd_getfd, which a connection of this kind needs";
    default:
      return ", which no permission allows";
  }
}

/** Returns a hint after a task with permissions has failed. The kernel reports refused files to the program only. */
export function describeFailure({ label, target }: FailedTask, isTraced: boolean): string {
  const explaining = target ? "use --explain" : "run it with rt run --explain";
  const next = isTraced ? "see rt help permissions" : `${explaining}, which names the file`;
  const without = target ? "run it without --permissions" : "try rt run --no-permissions";
  return `${oneLine(label)} ran with permissions; if a file was closed to it ("Permission denied"), ${next}, or ${without}`;
}

/** Returns the reason of a failure because of a refusal, with --locked. */
export function describeLockedFailure({ label, target }: FailedTask): string {
  return `${target ? oneLine(label) : "The task"} tried more than its permissions allow`;
}

interface FailedTask {
  readonly label: string;
  /** Set for a file, code or a program. */
  readonly target?: object | undefined;
}
