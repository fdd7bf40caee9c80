// The plan for `rt run - [args]` and `rt - [args]`, without options. It is the same plan that plan.ts would make;
// test/cli/shortcut.test.ts compares the two.
//
// Worth: without it and engine/input.ts such a start takes a tenth more processor time (bench: "cat hello.ts | rt run -",
// with engine/input.ts left out of main.ts). Should that fall under a twentieth, both files go.
import type { ExecutionPlan } from "../plan.ts";

/** @param words behind `rt`, of which the target is `-` */
export function planInputShortcut(words: readonly string[]): Extract<ExecutionPlan, { mode: "engine" }> {
  return {
    mode: "engine",
    argv: words[0] === "run" ? words : ["run", ...words],
    reason: "code on standard input",
  };
}
