// `rt run <script>` and `rt <script>`, without options: what most people start most often.
//
// Contract: does what cli/command-line.ts would do, or leaves it to that by giving undefined. See script-shortcut.ts for the
// plan.
//
// Surprising: it is a chunk of its own in the compiled file, since what a chunk has at its top level is made whenever
// it is loaded: the whole command line takes three times as long. What can go wrong is told by that one, which main asks.
import { host } from "../../../platform/processes/process.ts";
import { PLAIN_SCRIPT } from "../../config/settings/script.ts";
import type { ExecutionPlan } from "../plan.ts";
import { launchScript } from "../script/launch.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import { planScriptShortcut } from "./script-shortcut.ts";

/**
 * Undefined where these words are something else, or where it takes the whole command line to tell. Throws what the command
 * line explains.
 */
export async function startScript(words: readonly string[]): Promise<ExitStatus | undefined> {
  if (host.originalVariable("RT_DEBUG") !== undefined) return undefined;
  if (words[0] !== "run" && (await isCommand(words[0]!))) return undefined;
  const plan = planScript(words);
  return plan && (await launchScript(plan, PLAIN_SCRIPT));
}

function planScript(words: readonly string[]): Extract<ExecutionPlan, { mode: "script" }> | undefined {
  const isExplicit = words[0] === "run";
  try {
    return planScriptShortcut(isExplicit ? words.slice(1) : words, isExplicit);
  } catch {
    return undefined; // a package.json that cannot be read
  }
}

async function isCommand(word: string): Promise<boolean> {
  const { COMMANDS } = await import("../../options/commands.ts");
  return word in COMMANDS;
}
