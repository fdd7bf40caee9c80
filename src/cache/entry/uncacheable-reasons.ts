// Maps each uncacheable reason to its message and its hint.
import type { IncompleteReason } from "../../../platform/tracing/contract/tracing.ts";
import { oneLine } from "../../printable.ts";
import type { CacheRule } from "../../config/settings/cache.ts";
import { isBelow } from "../relocation/stored-path.ts";
import { describeRule, globOf, tableOf } from "../key/rule-line.ts";

/** Reasons that are known only after the script has ended. */
export type UncacheableReason =
  | IncompleteReason
  | "unread"
  | "rewritten"
  | "changed"
  | "names"
  | "added"
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
  network: [
    "it used the network$",
    "responses cannot be tracked; if files alone decide its result,",
    "untraced",
  ],
  socket: ["it connected to another process over a socket$", "if files alone decide its result,", "untraced"],
  memory: ["cannot read the memory of one of its processes ($)", "such a script cannot be cached"],
  "foreign-call": ["it used an unsupported system call$", "such a script cannot be cached"],
  mount: ["it changed mounts or the root directory ($)", "such a script cannot be cached"],
  "shared-memory": ["it shared memory with other processes ($)", "such a script cannot be cached"],
  "descriptor-program": ["it started a program that has no path ($)", "such a script cannot be cached"],
  "privileged-program": [
    "$ is setuid or setgid, and cannot run under the tracer",
    "do not cache the script: remove it from TABLE",
  ],
  "unknown-format": ["$ runs through binfmt_misc", "call its interpreter explicitly"],
  name: ["the name $ is not UTF-8", "rename the file"],
  moved: ["it exchanged two paths: $", "such a script cannot be cached"],
  survivor: ["a background process was still running", "stop it in the script"],
  lost: ["the tracer ran out of memory$", "run it again with more free memory"],
  supervisor: ["the tracer failed: $", "report this error of rt"],
  unread: ["$ cannot be read", "make it readable"],
  rewritten: ["it modified its own input $", "if the old content is irrelevant", ["ignore"]],
  changed: ["another process changed $ during the run", "run it again"],
  names: [
    "another process added or removed files in $ during the run",
    "run it again, or if these files are irrelevant",
    ["ignore", "/*"],
  ],
  added: [
    "another process added or removed $ during the run",
    "run it again; if another task makes it, add that task to depends-on, or if it is irrelevant",
    ["ignore"],
  ],
  edited: ["$ during the run", "run it again"],
  overlapped: ["another rt process ran or restored this script concurrently", "run it again"],
  outside: ["it wrote $ outside the project", "if this file is irrelevant", ["ignore"]],
  elsewhere: ["outputs in TABLE includes $, which is outside the project", "list only outputs of the script"],
  pipe: ["it read $, which is not a regular file", "such a script cannot be cached"],
  secret: ["it printed the secret $", "keep it out of the output"],
  refused: [
    "seccomp tracing is not permitted here",
    "detach other tracers, or declare its inputs and",
    "untraced",
  ],
  unlaunched: [
    "the system blocks executing memory files",
    "see sysctl vm.memfd_noexec, or declare its inputs and",
    "untraced",
  ],
  output: ["it wrote $, which is neither a file nor a symlink", "if it is irrelevant", ["ignore"]],
  flood: ["its output exceeds $", "print less, or write to a file"],
  store: ["cannot write to the cache: $", "free disk space or set XDG_CACHE_HOME"],
};

/** Separates the script's label from the reason. */
export const NOT_CACHED = " was not cached: ";

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
  const [, , change] = CAUSES[cause];
  const text = CAUSES[cause][0].replace("TABLE", tableOf(script.rule));
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
  const help = CAUSES[cause][1].replace("TABLE", tableOf(script.rule)).replace("$", oneLine(path));
  if (cause === "changed" && isBelow(path, script.root))
    return `${help}; if another task writes it, add that task to depends-on`;
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
    `${script.label} was cached only locally: it wrote ${oneLine(path)}, which is outside its package or links outside; ` +
    describeChange(script, "outputs", [path])
  );
}
