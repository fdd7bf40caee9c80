// Installs `rt` in a thread: the global, the module "rt", and both in every Worker that it starts.
//
// Invariants:
// - It runs before the user's first line, in the main thread and in each worker, for every way to run code.
// - It is on the critical path of every start, so everything, including the `rt` object, is created at its first use.
import type { DeferredModules } from "./modules/deferred-modules.ts";
import type { LazyModules } from "./modules/lazy-modules.ts";
import type { Rt } from "./rt.ts";
import { hookWorkerThreads } from "./worker-threads.ts";

type RuntimeInstallOptions = WorkerOptions & { preload?: string | string[] };

/** @param preload returns the URL of the script that a Worker must load first (see preload.ts) */
export function installRuntime(parts: LazyModules, late: DeferredModules, preload: () => string): void {
  let instance: Rt | undefined;
  const rt = () => (instance ??= late.createRt(parts));
  const replaceAccessor = (value: unknown) =>
    void Object.defineProperty(globalThis, "rt", { value, configurable: true, writable: true });
  Object.defineProperty(globalThis, "rt", {
    get() {
      replaceAccessor(rt());
      return instance;
    },
    set: replaceAccessor,
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
      if (args.length === 0) return Reflect.construct(target, args, newTarget) as Worker; // throws the engine's TypeError
      const [url, options] = args;
      const preloads = [preload(), ...[options?.preload ?? []].flat()];
      return Reflect.construct(target, [url, { ...options, preload: preloads }], newTarget) as Worker;
    },
  });
  hookWorkerThreads(late, preload);
}

/** Hides rt's embedded files: a program expects only files that it was compiled with. */
export function hideEmbeddedFiles(): void {
  (Bun as { embeddedFiles: readonly Blob[] }).embeddedFiles = [];
}
