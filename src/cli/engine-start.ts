// `rt --smol file.ts`: a file behind switches of the engine. The same as file-start.ts, for those.
import { becomeEngine } from "../run/engine.ts";
import { planShortcut } from "../run/shortcut.ts";

/** Comes back only where it takes the whole command line to tell what these words are. */
export async function startEngine(argv: readonly string[]): Promise<void> {
  const plan = await planShortcut(argv);
  if (plan?.mode === "engine") becomeEngine(plan.argv, true);
}
