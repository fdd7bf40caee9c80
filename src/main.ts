// Entry point: turns argv into an outcome and exits. This is the only module that ends the process.
//
// Non-obvious:
// - `rt file.ts`, `rt -` and `rt run script` without options have fast paths that do not load command-line.ts, because each
//   hundredth of a millisecond counts: file-shortcut.ts, stdin-start.ts and script-start.ts.
// - If a fast path cannot decide, command-line.ts handles the command line, with the same result.
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
    process.exit(host.exitBySignal(outcome.signal));
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
