// argv -> outcome -> exit code: the whole program in one reading, and the only place that ends the process.
//
// Surprising: there are three ways to a program's first line. `rt file.ts` and `rt run script`, without options, are
// what people start most, and each hundredth of a millisecond counts there, so their plans are made by file-shortcut.ts and
// script-start.ts without loading the command line. Everything else, and every doubt, goes through command-line.ts,
// which decides the same.
import { TRACED_NAME } from "../platform/tracing/contract/tracing.ts";
import type { RunOutcome } from "./runner/outcome.ts";
import { startInProcess } from "./runner/file/in-process.ts";
import { mayStandIn, planShortcut } from "./runner/fast-path/file-shortcut.ts";

const { argv, argv0 } = process;
const planned = argv[2] === "run" ? undefined : planShortcut(argv, argv0);
const plan = planned instanceof Promise ? await planned : planned;
if (plan?.mode === "in-process") {
  await startInProcess(plan);
} else if (plan) {
  const { becomeEngine } = await import("./runner/engine/engine.ts");
  becomeEngine(plan.argv, true);
} else {
  const outcome = await carryOut(argv.slice(2));
  if (typeof outcome === "number") process.exit(outcome);
  if (typeof outcome === "function") await outcome();
  if (typeof outcome === "object") {
    const { host } = await import("../platform/processes/process.ts");
    process.exit(host.dieOf(outcome.signal));
  }
}

async function carryOut(words: readonly string[]): Promise<RunOutcome> {
  if (argv0 === TRACED_NAME)
    return await (await import("../platform/tracing/tracer-process.ts")).runTracerHelper(words);
  const target = words[0] === "run" ? words[1] : words[0];
  if (target === "-" && !mayStandIn(argv0)) {
    const { startInput } = await import("./runner/engine/stdin-start.ts");
    startInput(words);
  }
  if (target !== undefined && target[0] !== "-" && !mayStandIn(argv0)) {
    const { startScript } = await import("./runner/fast-path/script-start.ts");
    try {
      const ending = await startScript(words);
      if (ending !== undefined) return ending;
    } catch (error) {
      const { explain } = await import("./cli/command-line.ts");
      return await explain(error);
    }
  }
  const { carryOutCommandLine } = await import("./cli/command-line.ts");
  return await carryOutCommandLine(words);
}
