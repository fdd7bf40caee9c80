// `rt run <script>` and `rt <script>`, without options: what most people start most often.
//
// Contract: does what command-line.ts would do, or leaves it to that by giving undefined. See run/script-shortcut.ts
// for the plan.
//
// Surprising: it is a chunk of its own in the compiled file, since what a chunk has at its top level is made whenever
// it is loaded: the whole command line takes three times as long. What can go wrong is therefore told by that one.
import { type Ending, launchScript } from "../run/script/launch.ts";
import type { Plan } from "../run/plan.ts";
import { planScriptShortcut } from "../run/script-shortcut.ts";
import { PLAIN_SCRIPT } from "../settings/script.ts";

/** Undefined where these words are something else, or where it takes the whole command line to tell. */
export async function startScript(words: readonly string[]): Promise<Ending | undefined> {
  const plan = process.env.RT_DEBUG === undefined ? planScript(words) : undefined;
  if (!plan || (words[0] !== "run" && (await isCommand(words[0]!)))) return undefined;
  try {
    return await launchScript(plan, PLAIN_SCRIPT);
  } catch (error) {
    const { explain } = await import("./command-line.ts");
    return await explain(error);
  }
}

function planScript(words: readonly string[]): Extract<Plan, { mode: "script" }> | undefined {
  const isExplicit = words[0] === "run";
  try {
    return planScriptShortcut(isExplicit ? words.slice(1) : words, isExplicit);
  } catch {
    return undefined; // a package.json that cannot be read
  }
}

async function isCommand(word: string): Promise<boolean> {
  const { COMMANDS } = await import("../options/commands.ts");
  return word in COMMANDS;
}
