// argv -> outcome -> exit code: the whole program in one reading, and the only place that ends the process.
//
// Surprising: there are two ways to a program's first line. `rt file.ts`, without options, is what people start
// most, and each hundredth of a millisecond counts there, so its plan is made by shortcut.ts without loading
// the command line. Everything else, and every doubt, goes through command-line.ts, which decides the same.
import { startInProcess } from "./run/in-process.ts";
import { planShortcut } from "./run/shortcut.ts";

const plan = planShortcut(process.argv, process.argv0);
if (plan) {
  await startInProcess(plan);
} else {
  const { carryOutCommandLine } = await import("./cli/command-line.ts");
  const outcome = await carryOutCommandLine(process.argv.slice(2));
  if (typeof outcome === "number") process.exit(outcome);
  if (typeof outcome === "function") await outcome();
  if (typeof outcome === "object") {
    const { host } = await import("../platform/process.ts");
    process.exit(host.dieOf(outcome.signal));
  }
}
