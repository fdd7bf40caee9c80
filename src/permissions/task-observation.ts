// Observes the tasks of a run that learns, checks or explains permissions, and concludes what their tables need.
import type { PermissionRules, RefusedCall } from "../../platform/permissions/contract/permissions.ts";
import type { Child, ChildRequest } from "../../platform/processes/contract/process-tree.ts";
import type { Trace, TracingOperations } from "../../platform/tracing/contract/tracing.ts";
import type { PermissionObservation, PermissionSettings } from "../config/settings/permissions.ts";
import type { PermissionTable } from "../config/tasks/permission-table.ts";
import { reportLine } from "../output.ts";
import { LearnedNeeds } from "./learned-needs.ts";
import { openTracing, startObserved } from "./observed-start.ts";
import type { Profile } from "./profile.ts";
import type { StepPermissions } from "./step-permissions.ts";
import type { EntryBase } from "./table-entries.ts";
import { findConnectionNeeds, findFileNeeds } from "./trace-needs.ts";

/** A task, as far as it is observed. */
export interface ObservedTask {
  /** Name of its row in [tasks]. */
  readonly row: string;
  readonly base: EntryBase;
  /** Its own table; undefined without one. */
  readonly table: PermissionTable | undefined;
  /** Whether it runs without limits. */
  readonly isFree: boolean;
}

export class TaskObservation {
  readonly #mode: PermissionObservation;
  readonly #tracing: TracingOperations;
  /** Undefined if the run only explains. */
  readonly #learned: LearnedNeeds | undefined;

  constructor(tracing: TracingOperations, mode: PermissionObservation, learned: LearnedNeeds | undefined) {
    this.#tracing = tracing;
    this.#mode = mode;
    this.#learned = learned;
  }

  start(request: ChildRequest, { row, base, table, isFree }: ObservedTask): Child {
    const { rules } = request.permissions!;
    const findNeeds = (trace: Trace) => {
      const files = findFileNeeds(trace, rules, base.root);
      if (!isFree) return files;
      const calls = [...files, ...findConnectionNeeds(trace, rules)];
      this.#learned?.add(row, { table, base, calls });
      return [];
    };
    return startObserved(request, { tracing: this.#tracing, isEnforced: !isFree, findNeeds });
  }

  /** Remembers a refusal that has an effect, for a run that checks tables. */
  addRefusal({ row, base, table = {} }: Omit<ObservedTask, "isFree">, refusal: RefusedCall): void {
    if (this.#mode === "check") this.#learned!.add(row, { table, base, calls: [refusal] });
  }

  /** Other machines, and other packages in the project, may give a task with the same table other rules. */
  reviewOf(
    { row, base }: Pick<ObservedTask, "row" | "base">,
    version: number,
    findProfile: () => Profile,
  ): Pick<StepPermissions, "digest" | "review"> | undefined {
    if (this.#mode !== "check") return undefined;
    const { root, home, packageDirectory } = base;
    const profile = JSON.stringify(findProfile());
    const learned = this.#learned!;
    return {
      digest: `checked ${version} ${profile.replaceAll(root, ".").replaceAll(home, "~")}`,
      review: {
        findNeeds: (trace: Trace, rules: PermissionRules) => findFileNeeds(trace, rules, root),
        get hasRefusals() {
          return learned.has(row, packageDirectory);
        },
      },
    };
  }

  /** Ends the run: proposes or checks tables. Returns the exit code of a run that was a success. @throws UserError */
  async conclude(ending: "success" | "failure" | "interrupt"): Promise<number> {
    if (!this.#learned) return 0;
    const proposes = this.#mode !== "check";
    if (proposes && ending === "failure") {
      reportLine("warning: no permissions are proposed, because the run failed");
      return 1;
    }
    if (proposes && ending === "interrupt")
      reportLine("note: the run was interrupted, so these are the permissions that it needed until then");
    return await this.#learned.conclude();
  }
}

/** @param root folder of the root project @throws UserError if this system cannot trace */
export function openObservation(
  { observation, asked, config }: PermissionSettings,
  root: string,
): TaskObservation {
  const mode = observation!;
  const learned = mode === "explain" ? undefined : new LearnedNeeds(mode, config, root);
  return new TaskObservation(openTracing(`--${asked}`), mode, learned);
}
