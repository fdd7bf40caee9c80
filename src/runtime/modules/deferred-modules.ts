// Collects the runtime code that a thread needs only if its program uses `rt` or node:worker_threads. In rt's own process it is
// part of the executable. Other processes compile the preload, so it contains this code as a text that is compiled on first use.
import { moduleExports } from "./module-exports.ts";
import type { LazyModules } from "./lazy-modules.ts";
import { createRt, type Rt } from "../rt.ts";
import { hookClassDefinition, hookLoadedClass, isLoading } from "../worker-class.ts";

export interface DeferredModules {
  createRt(parts: LazyModules): Rt;
  moduleExports(rt: Rt): Record<string, unknown>;
  isLoading(): boolean;
  hookClassDefinition(preload: () => string): void;
  hookLoadedClass(preload: () => string): void;
}

export const LATE: DeferredModules = {
  createRt,
  moduleExports,
  isLoading,
  hookClassDefinition,
  hookLoadedClass,
};
