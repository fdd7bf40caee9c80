// What a thread needs of the runtime only if its program touches `rt` or starts threads of Node's kind. In the compiled
// program's own process it is there; the preload, which is compiled anew in each process, carries it as a text that is
// compiled when it is touched.
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
