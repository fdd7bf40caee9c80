// Creates LazyModules from a script, which is evaluated when a module is first used.
import type { LazyModules } from "./lazy-modules.ts";
import { evaluate } from "../preload/embedded-script.ts";

export function createParts(readScript: () => string): LazyModules {
  let parts: LazyModules | undefined;
  const load = () => (parts ??= evaluate<{ PARTS: LazyModules }>(readScript()).PARTS);
  return {
    loadSecrets: async () => await load().loadSecrets(),
    loadCSRF: () => load().loadCSRF(),
    loadProgram: () => load().loadProgram(),
  };
}
