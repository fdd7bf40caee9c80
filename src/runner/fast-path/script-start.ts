// Fast path of `rt run <script>` and `rt <script>` without options, and the memo of such a start.
//
// Invariants: equivalent to cli/command-line.ts, or returns undefined to leave the work to it. script-shortcut.ts has the plan.
//
// Non-obvious:
// - A separate chunk of the executable, because the full command line takes three times as long to load. Errors are reported by
//   the full command line.
// - The full command line also ends in a memo, if it does no more than to become one script.
import { startLookupRecorder } from "../../../platform/files/lookup-recorder.ts";
import { openAdoptedStart } from "../../../platform/permissions/adoption.ts";
import { host } from "../../../platform/processes/process.ts";
import { PLAIN_SCRIPT } from "../../config/settings/script.ts";
import { ADOPTED_VARIABLE } from "../engine/internal-variables.ts";
import type { ScriptPlan } from "../plan.ts";
import { launchScript } from "../script/launch.ts";
import { observeReplacement } from "../script/replacement.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import { planScriptShortcut } from "./script-shortcut.ts";

/**
 * Undefined if the words are something else, or need the full command line. @throws errors that the command line
 * explains
 */
export async function startScript(words: readonly string[]): Promise<ExitStatus | undefined> {
  if (host.originalVariable("RT_DEBUG") !== undefined) return undefined;
  if (words[0] !== "run" && (await isCommand(words[0]!))) return undefined;
  if (openAdoptedStart(ADOPTED_VARIABLE)) return undefined;
  if (mayMemoize(words)) prepareMemo(words);
  const plan = planScript(words);
  return plan && (await launchScript(plan, PLAIN_SCRIPT));
}

/** Arguments may contain credentials, so such a start leaves nothing on the disk. */
function mayMemoize(words: readonly string[]): boolean {
  const isAlone = words.length === (words[0] === "run" ? 2 : 1);
  return host.replaysStarts && isAlone;
}

function prepareMemo(words: readonly string[]): void {
  const begin = Date.now();
  const lookups = startLookupRecorder();
  observeReplacement({
    lookups,
    observe(script) {
      const { writeStartMemo } = require("./start-memo.ts") as typeof import("./start-memo.ts");
      writeStartMemo({ words, lookups, begin, script });
    },
  });
}

function planScript(words: readonly string[]): ScriptPlan | undefined {
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
