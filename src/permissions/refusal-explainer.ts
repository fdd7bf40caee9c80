// Explains the refusals of the tasks of a run, each once.
import type { RefusedCall } from "../../platform/permissions/contract/permissions.ts";
import { oneLine } from "../printable.ts";
import { explainRefusal, type RefusedTask } from "./refusal-text.ts";
import type { ExplainedRefusal } from "./step-permissions.ts";

/** Lines about refusals of one task. Malicious code may cause thousands. */
const MAX_EXPLAINED = 30;

export class RefusalExplainer {
  /** The refusals that have been explained, for each task. */
  readonly #explained = new Map<string, Set<string>>();

  /** Returns "repeated" if the same line has been shown, or as many as are shown. */
  explain(task: RefusedTask, refusal: RefusedCall): ExplainedRefusal | "repeated" | "unimportant" {
    const label = oneLine(task.label);
    const explained = explainRefusal({ ...task, label }, refusal);
    if (!explained) return "unimportant";
    const known = this.#explained.get(task.label) ?? new Set();
    this.#explained.set(task.label, known);
    const { kind, target, allow } = explained;
    // One line of rtfig.toml allows many files.
    const key = kind === "host" || kind === "name" || allow === undefined ? `${kind} ${target}` : allow;
    if (known.has(key) || known.size > MAX_EXPLAINED) return "repeated";
    known.add(key);
    if (known.size <= MAX_EXPLAINED) return explained;
    return { ...explained, message: `${label}: further refusals are not shown` };
  }
}
