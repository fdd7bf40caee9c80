// The parts of a process that has them as a script, which is evaluated when one is first touched.
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
