// Fast path that plans `rt [engine switches] <source file> [args]`, the most frequent start. It returns the plan of
// plan.ts, or undefined; test/cli/shortcut.test.ts compares both for a table of cases.
//
// Non-obvious:
// - Without it `rt hello.ts` takes a fifth more processor time (bench). Remove it if that falls below a twentieth.
// - It does not use the working directory, regular expressions or process.env: the engine creates each at first
//   use, a tenth of a start.
import { engineSwitches } from "../../options/engine-flags.ts" with { type: "macro" };
import { engineReason, hasConfig } from "../file/engine-reason.ts";
import type { ExecutionPlan } from "../plan.ts";
import { isExplicitPath } from "../resolve/target.ts";
import { extensionOf, SOURCE_EXTENSIONS } from "../../source-extensions.ts";

/** Whether rt may have been started as another program by a symlink (script/path-shims.ts). */
export function mayStandIn(argv0: string): boolean {
  return argv0.endsWith("node") || argv0.endsWith("bunx") || argv0.endsWith("-credential-rt");
}

const SWITCHES = engineSwitches();

type FilePlan = Extract<ExecutionPlan, { mode: "in-process" | "engine" }>;

/**
 * Returns synchronously if nothing has to be awaited.
 * @param argv the process's own, including the two words of rt itself
 */
export function planShortcut(
  argv: readonly string[],
  argv0: string,
): FilePlan | Promise<FilePlan | undefined> | undefined {
  let at = 2;
  while (argv[at]?.[0] === "-" && isSwitch(argv[at]!)) at += 1;
  const name = argv[at];
  if (name === undefined || name[0] === "-" || mayStandIn(argv0)) return undefined;
  if (!name.includes(".") || !SOURCE_EXTENSIONS.includes(extensionOf(name)) || hasConfig("."))
    return undefined;
  let file: string;
  try {
    file = Bun.resolveSync(isExplicitPath(name) ? name : `./${name}`, ".");
  } catch {
    return undefined;
  }
  if (!SOURCE_EXTENSIONS.includes(extensionOf(file))) return undefined;
  if (at > 2) {
    const words = [...argv.slice(2, at), file, ...argv.slice(at + 1)];
    return { mode: "engine", argv: words, reason: argv[2]!.split("=", 1)[0]!, file };
  }
  const plan: FilePlan = {
    mode: "in-process",
    file,
    args: argv.slice(argv[3] === "--" ? 4 : 3),
    engineArgs: argv.slice(3),
  };
  const reason = engineReason(file, ".");
  return reason === undefined ? plan : unless(reason, plan);
}

/** An engine switch, or --inspect without a value or with a valid port. */
function isSwitch(word: string): boolean {
  return (
    SWITCHES.includes(` ${word} `) ||
    // Not at module level, where the regular expression would be created at every start.
    (word.startsWith("--inspect") &&
      /^--inspect(?:-wait|-brk)?(?:=(?:[\w.-]*:)?(?:\d{1,4}|[1-5]\d{4}))?$/.test(word))
  );
}

async function unless(reason: Promise<string | undefined> | string, plan: FilePlan) {
  return (await reason) === undefined ? plan : undefined;
}
