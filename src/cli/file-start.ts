// `rt file.ts`, without options: what people start most.
//
// Contract: does what command-line.ts would do, or leaves it to that by giving false. See run/shortcut.ts for the plan.
//
// Surprising: it is a chunk of its own in the compiled file, so that other starts do not wait for it. This one hardly
// does: the program has to be imported anyway, and the first import is the dear one.
import { startInProcess } from "../run/in-process.ts";
import { planShortcut } from "../run/shortcut.ts";

/** Whether it has been started. @param argv the process's own: its first two words are rt itself */
export async function startFile(argv: readonly string[]): Promise<boolean> {
  const plan = await planShortcut(argv);
  if (plan?.mode !== "in-process") return false;
  await startInProcess(plan);
  return true;
}
