// Puts `rt` into a thread: the global, the module "rt", and both again into every Worker it starts.
//
// Runs before the user's first line, in the main thread and in each worker, in every way of running code. It
// must stay cheap (it is on the way of every start) and must not import anything that is not.
import { createRt, moduleExports } from "./rt.ts";
import { hookWorkerThreads } from "./worker-threads.ts";

/** @param workerPreload what a Worker must load first: the module that calls this function there. */
export function installRuntime(workerPreload: string): void {
  const rt = createRt();
  Object.defineProperty(globalThis, "rt", {
    value: rt,
    configurable: true,
    writable: true,
    enumerable: false,
  });
  Bun.plugin({
    name: "rt",
    setup(build) {
      build.module("rt", () => ({ exports: moduleExports(rt), loader: "object" }));
    },
  });
  globalThis.Worker = new Proxy(Worker, {
    construct(
      target,
      [url, options]: [string | URL, (WorkerOptions & { preload?: string | string[] })?],
      newTarget,
    ) {
      const preload = [workerPreload, ...[options?.preload ?? []].flat()];
      return Reflect.construct(target, [url, { ...options, preload }], newTarget);
    },
  });
  hookWorkerThreads(workerPreload);
}
