// Fast path that plans `rt run - [args]` and `rt - [args]` without options. It returns the plan of plan.ts;
// test/cli/shortcut.test.ts compares both.
//
// Non-obvious: without it and engine/stdin-start.ts such a start takes a tenth more processor time (bench). Remove
// both if that falls below a twentieth.
import type { ExecutionPlan } from "../plan.ts";

/** @param words after `rt`, with the target `-` */
export function planInputShortcut(words: readonly string[]): Extract<ExecutionPlan, { mode: "engine" }> {
  return {
    mode: "engine",
    argv: words[0] === "run" ? words : ["run", ...words],
    reason: "code on standard input",
  };
}
