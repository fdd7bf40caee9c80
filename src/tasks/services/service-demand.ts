// Decides which services of a run are needed. Pure.
//
// Invariants:
// - A service is wanted when a task that depends on it has to run: it is not cached, or it was not a hit. A requested
//   service is always wanted.
// - A service that depends on another one is such a task. So services end in reverse order of dependency.
import type { ScriptTask } from "../task.ts";

export interface ServiceGraph {
  readonly tasks: readonly ScriptTask[];
  /** By task index. */
  readonly waitsFor: readonly (readonly number[])[];
  /** Direct ones, by task index. */
  readonly dependents: readonly (readonly number[])[];
  /** Whether the cache may have the task's result, so that it does not need its services. */
  mayHit(task: ScriptTask): boolean;
}

export class ServiceDemand {
  /** By task index, in plan order. */
  readonly services: readonly number[];
  readonly #graph: ServiceGraph;
  readonly #wanted = new Set<number>();
  /** Tasks that are tried without their services. */
  readonly #hopeful = new Set<number>();
  readonly #allDependents = new Map<number, readonly number[]>();

  constructor(graph: ServiceGraph) {
    this.#graph = graph;
    this.services = graph.tasks.flatMap(({ index }) => (this.isService(index) ? [index] : []));
    this.renew(graph.tasks.map(({ index }) => index));
  }

  servicesOf(task: number): readonly number[] {
    if (this.services.length === 0) return [];
    return (this.#graph.waitsFor[task] ?? []).filter((target) => this.isService(target));
  }

  isService(task: number): boolean {
    return this.#graph.tasks[task]?.rule?.service === true;
  }

  isWanted(service: number): boolean {
    return this.#wanted.has(service);
  }

  /** Whether the task starts without its services, to look it up in the cache. */
  isHopeful(task: number): boolean {
    return this.#hopeful.has(task);
  }

  /** The task was not a hit, or is not cached. */
  wantServicesOf(task: number): void {
    this.#hopeful.delete(task);
    for (const service of this.servicesOf(task)) {
      if (this.#wanted.has(service)) continue;
      this.#wanted.add(service);
      this.wantServicesOf(service);
    }
  }

  /** These tasks are going to be looked up again. */
  renew(tasks: readonly number[]): void {
    for (const index of tasks) this.#wanted.delete(index);
    for (const index of tasks) {
      const task = this.#graph.tasks[index]!;
      if (this.isService(index)) {
        if (task.isDependency) continue;
        this.#wanted.add(index);
        this.wantServicesOf(index);
      } else if (this.servicesOf(index).length > 0) {
        if (this.#graph.mayHit(task)) this.#hopeful.add(index);
        else this.wantServicesOf(index);
      }
    }
  }

  /** Returns all dependents, also indirect ones. */
  dependentsOf(service: number): readonly number[] {
    let all = this.#allDependents.get(service);
    if (all) return all;
    const found = new Set(this.#graph.dependents[service]);
    // A Set may grow while it is iterated.
    for (const index of found) for (const further of this.#graph.dependents[index]!) found.add(further);
    this.#allDependents.set(service, (all = [...found]));
    return all;
  }
}

/** Returns the services that would not start, in a run with these cache hits. The plan is in topological order. */
export function findUnneededServices(
  { tasks, waitsFor }: Pick<ServiceGraph, "tasks" | "waitsFor">,
  isHit: (task: ScriptTask) => boolean,
): ReadonlySet<number> {
  const needed = new Set<number>();
  const unneeded = new Set<number>();
  for (const task of tasks.toReversed()) {
    const { index, isDependency } = task;
    if (task.rule?.service && isDependency && !needed.has(index)) unneeded.add(index);
    else if (!isHit(task)) for (const target of waitsFor[index] ?? []) needed.add(target);
  }
  return unneeded;
}
