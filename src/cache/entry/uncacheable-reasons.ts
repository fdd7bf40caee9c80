// Maps each uncacheable reason to its message and its hint.
import type { IncompleteReason } from "../../../platform/tracing/contract/tracing.ts";
import { oneLine } from "../../printable.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import { isBelow } from "./relocation.ts";
import { describeRule, globOf } from "../key/rule-line.ts";

/** Reasons that are known only after the script has ended. */
export type UncacheableReason =
  | IncompleteReason
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

/** The change of the rule: a list and a suffix for the path, or tracing turned off. */
type RuleChange = readonly ["ignore" | "outputs", behind?: string] | "untraced";

const CAUSES: Readonly<
  Record<UncacheableReason, readonly [cause: string, help: string, change?: RuleChange]>
> = {
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
  rewritten: ["it read and then changed $", "if its old content does not matter", ["ignore"]],
  changed: ["$ was changed while it ran, by something else", "run it again"],
  names: [
    "in $, which it listed, something else made or removed a file while it ran",
    "run it again, or if it does not matter what is there",
    ["ignore", "/*"],
  ],
  edited: ["while it ran, $", "run it again"],
  overlapped: ["another rt ran it, or put back what it makes, at the same time", "run it again"],
  outside: ["it wrote $, outside the project", "if it does not matter", ["ignore"]],
  elsewhere: [
    "outputs of [run.cache] means $, which is not in the project",
    "name only what the script makes",
  ],
  pipe: ["it read $, which is no file", "such a script cannot be cached"],
  secret: ["it printed the value of $", "keep it out of the output"],
  refused: [
    "the system does not let rt follow it (seccomp)",
    "another program follows it already, or this container forbids it; if so",
    "untraced",
  ],
  unlaunched: [
    "the system starts no program from memory, as rt does to follow it",
    "see sysctl vm.memfd_noexec, or declare its inputs and",
    "untraced",
  ],
  output: ["it wrote $, which is neither a file nor a link", "if it does not matter", ["ignore"]],
  flood: ["it wrote more than $ to the terminal", "let it say less, or write that into a file"],
  store: ["the cache cannot be written: $", "make room, or set XDG_CACHE_HOME"],
};

/** Separates the script's label from the reason. */
export const NOT_CACHED = " was not cached: ";

/** The script that a message is about. */
export interface DescribedScript {
  readonly label: string;
  readonly rule: CacheRule;
  readonly packageDirectory: string;
  /** The root of the project; absolute. */
  readonly root: string;
}

/** Returns a line without line feed. @param advice replaces the hint of the table */
export function describeNotCached(
  script: DescribedScript,
  cause: UncacheableReason,
  detail: string,
  advice?: string,
): string {
  const [text, , change] = CAUSES[cause];
  const shown = oneLine(detail);
  const said =
    text.endsWith("$") && !text.endsWith(" $")
      ? text.replace("$", shown && ` (${shown})`)
      : text.replace("$", shown);
  return `${script.label}${NOT_CACHED}${said}; ${advice ?? adviseOn(script, cause, change, detail)}`;
}

function adviseOn(
  script: DescribedScript,
  cause: UncacheableReason,
  change: RuleChange | undefined,
  path: string,
): string {
  const help = CAUSES[cause][1].replace("$", oneLine(path));
  if (change === undefined) return help;
  if (change === "untraced") return `${help} ${describeRule(script.rule, { trace: false })}`;
  return `${help}, ${describeChange(script, change[0], [path], change[1])}`;
}

/** Returns the end of a sentence: the rule with these paths added. */
export function describeChange(
  { rule, packageDirectory, root }: DescribedScript,
  list: "ignore" | "outputs",
  paths: readonly string[],
  behind = "",
): string {
  const globs = paths.map((path) => {
    const glob = globOf(path, packageDirectory, isBelow(path, root));
    return behind === "" ? glob : `${glob === "/" ? "" : glob}${behind}`;
  });
  return describeRule(rule, { [list]: globs });
}

/** Returns a line without line feed, for a script that was cached only locally. */
export function describeNotShared(script: DescribedScript, path: string): string {
  return (
    `${script.label} is not shared: it wrote ${oneLine(path)}, outside its package, or something that leads there; ` +
    describeChange(script, "outputs", [path])
  );
}
