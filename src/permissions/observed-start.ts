// Starts a step under the tracer, and passes on what it used beyond its rules.
//
// Invariants: a step that cannot be traced is an error. It never runs unobserved.
import type { RefusedCall } from "../../platform/permissions/contract/permissions.ts";
import type { Child, ChildRequest } from "../../platform/processes/contract/process-tree.ts";
import type { Trace, TracingOperations } from "../../platform/tracing/contract/tracing.ts";
import { hasTracing, loadTracing } from "../../platform/tracing/tracing.ts";
import { UserError } from "../user-error.ts";

export interface Observation {
  readonly tracing: TracingOperations;
  /** Whether the rules of the request are enforced. */
  readonly isEnforced: boolean;
  findNeeds(trace: Trace): readonly RefusedCall[];
}

/** @param option the option that needs the tracer @throws UserError if this system has none */
export function openTracing(option: string): TracingOperations {
  if (!hasTracing())
    throw new UserError(`${option} cannot trace on this system`, "use it on Linux 5.9 or later");
  return loadTracing();
}

/** @throws NoThreadError, or the system's error */
export function startObserved(request: ChildRequest, { tracing, isEnforced, findNeeds }: Observation): Child {
  const tracer = tracing.openTracer({ program: process.execPath, namesProcesses: true });
  const { permissions, inheritStdin: _input, descriptors: _descriptors, ...rest } = request;
  const child = tracer.start(
    isEnforced ? { ...rest, permissions } : { ...rest, env: { ...rest.env, ...permissions!.variables } },
  );
  const finish = async () => {
    const exit = await child.done;
    if (!(await child.isTraced))
      throw new UserError("it cannot be traced here: the system forbids seccomp filters with a listener");
    for (const need of findNeeds(await tracer.finish())) permissions!.onRefusal(need);
    return exit;
  };
  return { ...child, done: finish() };
}
