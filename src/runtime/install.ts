// Puts `rt` into a thread: the global, the module "rt", and both again into every Worker it starts.
//
// Runs before the user's first line, in the main thread and in each worker, in every way of running code. It
// is on the way of every start: nothing is made here that can wait until it is touched, the object itself neither.
import type { DeferredModules } from "./modules/deferred-modules.ts";
import type { LazyModules } from "./modules/lazy-modules.ts";
import type { Rt } from "./rt.ts";
import { hookWorkerThreads } from "./worker-threads.ts";

type RuntimeInstallOptions = WorkerOptions & { preload?: string | string[] };

/** @param preload gives the URL of the script that a Worker must load first: see preload.ts. */
export function installRuntime(parts: LazyModules, late: DeferredModules, preload: () => string): void {
  let made: Rt | undefined;
  const rt = () => (made ??= late.createRt(parts));
  const become = (value: unknown) =>
    void Object.defineProperty(globalThis, "rt", { value, configurable: true, writable: true });
  Object.defineProperty(globalThis, "rt", {
    get() {
      become(rt());
      return made;
    },
    set: become,
    configurable: true,
  });
  Bun.plugin({
    name: "rt",
    setup(build) {
      build.module("rt", () => ({ exports: late.moduleExports(rt()), loader: "object" }));
    },
  });
  globalThis.Worker = new Proxy(Worker, {
    construct(target, args: [] | [string | URL, RuntimeInstallOptions?], newTarget) {
      if (args.length === 0) return Reflect.construct(target, args, newTarget); // which throws
      const [url, options] = args;
      const preloads = [preload(), ...[options?.preload ?? []].flat()];
      return Reflect.construct(target, [url, { ...options, preload: preloads }], newTarget);
    },
  });
  hookWorkerThreads(late, preload);
}

/** Those are rt's own; a program looks there for what it was itself compiled with. */
export function hideEmbeddedFiles(): void {
  (Bun as { embeddedFiles: readonly Blob[] }).embeddedFiles = [];
}
