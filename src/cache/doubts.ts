// What is said of a script that ran and was not kept: the cause, and what would help. One table.
import type { Doubt } from "../../platform/contract/tracing.ts";
import { oneLine } from "../printable.ts";

/** Those that are only known when the script has ended. */
export type Cause =
  | Doubt
  | "unread"
  | "rewritten"
  | "changed"
  | "names"
  | "edited"
  | "overlapped"
  | "outside"
  | "elsewhere"
  | "pipe"
  | "secret"
  | "refused"
  | "unlaunched"
  | "output"
  | "flood"
  | "store";

const CAUSES: Readonly<Record<Cause, readonly [cause: string, help: string]>> = {
  network: ["it used the network$", "nothing can tell whether the answer would be the same"],
  socket: ["it talked to another program over a socket$", "such a script cannot be cached"],
  memory: ["one of its programs does not let itself be looked at ($)", "such a script cannot be cached"],
  "foreign-call": ["it made a system call that rt does not know$", "such a script cannot be cached"],
  mount: ["it changed what paths mean ($)", "such a script cannot be cached"],
  "shared-memory": ["it shared memory with other programs ($)", "such a script cannot be cached"],
  "descriptor-program": ["it started a program that has no path ($)", "such a script cannot be cached"],
  "privileged-program": [
    "$ needs the rights of another user, which a followed script cannot get",
    "leave it out of [run.cache]",
  ],
  "unknown-format": ["the kernel starts $ by a program of its own choice", "name that program in the script"],
  name: ["the name $ is not UTF-8", "rename the file"],
  moved: ["it exchanged two paths: $", "such a script cannot be cached"],
  survivor: ["it left a program running", "end it in the script"],
  lost: ["there was no memory for all that it did$", "run it again when there is"],
  supervisor: ["rt could not follow it: $", "this is a fault of rt's own"],
  unread: ["$ cannot be read", "make it readable"],
  rewritten: [
    "it read and then changed $",
    "list it in outputs or ignore of [run.cache], if its old content does not matter",
  ],
  changed: ["$ was changed while it ran, by something else", "run it again"],
  names: [
    "in $, which it listed, something else made or removed a file while it ran",
    'run it again, or where it does not matter what is there: ignore = ["$/*"] in [run.cache]',
  ],
  edited: ["while it ran, $", "run it again"],
  overlapped: ["another rt ran it, or put back what it makes, at the same time", "run it again"],
  outside: ["it wrote $, outside the project", "list it in ignore of [run.cache], if it does not matter"],
  elsewhere: [
    "outputs of [run.cache] means $, which is not in the project",
    "name only what the script makes",
  ],
  pipe: ["it read $, which is no file", "such a script cannot be cached"],
  secret: ["it printed the value of $", "keep it out of the output"],
  refused: [
    "the system does not let rt follow it (seccomp)",
    "another program follows it already, or this container forbids it: trace = false in [run.cache]",
  ],
  unlaunched: [
    "the system starts no program from memory, as rt does to follow it",
    "see sysctl vm.memfd_noexec, or declare its inputs: trace = false in [run.cache]",
  ],
  output: [
    "it wrote $, which is neither a file nor a link",
    "list it in ignore of [run.cache], if it does not matter",
  ],
  flood: ["it wrote more than $ to the terminal", "let it say less, or write that into a file"],
  store: ["the cache cannot be written: $", "make room, or set XDG_CACHE_HOME"],
};

/** Between the script and the cause. */
export const UNKEPT = " was not cached: ";

/** A line without its end; `label` is the script's. @param advice what would help, where more is known of that */
export function describeDoubt(label: string, cause: Cause, detail: string, advice?: string): string {
  const [text, help] = CAUSES[cause];
  const shown = oneLine(detail);
  const said =
    text.endsWith("$") && !text.endsWith(" $")
      ? text.replace("$", shown && ` (${shown})`)
      : text.replace("$", shown);
  return `${label}${UNKEPT}${said}; ${advice ?? help.replace("$", shown === "/" ? "" : shown)}`;
}

/** A line without its end, of a script that was kept here alone. */
export function describeUnshared(label: string, path: string): string {
  return (
    `${label} is not shared: it wrote ${oneLine(path)}, outside its package, or something that leads there; ` +
    "list it in outputs of [run.cache]"
  );
}
