// The plan for `rt [switches of the engine] <source file> [args]`, the commonest start, made with as few operations as
// it takes. It is the same plan that plan.ts would make, or none: test/cli/shortcut.test.ts compares the two in a table of
// cases that is made from the options, names of all kinds and what may stand behind them.
//
// Worth: without it a start of `rt hello.ts` takes a fifth more processor time (bench: "rt hello.ts", with this function's
// answer left out). Should that fall under a twentieth, this file goes.
//
// Surprising: no working directory is asked for, no pattern is matched and no variable of the environment is
// read: the engine makes each of these when it is first used, and together they cost a tenth of a start.
import { engineSwitches } from "../../options/engine-flags.ts" with { type: "macro" };
import { engineReason, hasConfig } from "../file/engine-reason.ts";
import type { ExecutionPlan } from "../plan.ts";
import { isExplicitPath } from "../resolve/target.ts";
import { extensionOf, SOURCE_EXTENSIONS } from "../../source-extensions.ts";

/** Whether rt may have been started by a link that makes it another program: see script/stand-ins.ts. */
export function mayStandIn(argv0: string): boolean {
  return argv0.endsWith("node") || argv0.endsWith("bunx") || argv0.endsWith("-credential-rt");
}

const SWITCHES = engineSwitches();

type FilePlan = Extract<ExecutionPlan, { mode: "in-process" | "engine" }>;

/**
 * Nothing is awaited where there is nothing to wait for.
 *
 * @param argv the process's own: its first two words are rt itself
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

/** A switch, or the debugger's option: without a value, or with a port that there is. */
function isSwitch(word: string): boolean {
  return (
    SWITCHES.includes(` ${word} `) ||
    // Here, since a pattern of the module would be made at every start.
    (word.startsWith("--inspect") &&
      /^--inspect(?:-wait|-brk)?(?:=(?:[\w.-]*:)?(?:\d{1,4}|[1-5]\d{4}))?$/.test(word))
  );
}

async function unless(reason: Promise<string | undefined> | string, plan: FilePlan) {
  return (await reason) === undefined ? plan : undefined;
}
