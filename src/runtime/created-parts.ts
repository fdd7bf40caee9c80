// The parts of a process that has them as a script, which is evaluated when one is first touched.
import type { Parts } from "./parts.ts";
import { evaluate } from "./script.ts";

export function createParts(readScript: () => string): Parts {
  let parts: Parts | undefined;
  const load = () => (parts ??= evaluate<{ PARTS: Parts }>(readScript()).PARTS);
  return {
    loadSecrets: async () => await load().loadSecrets(),
    loadCSRF: () => load().loadCSRF(),
    loadProgram: () => load().loadProgram(),
  };
}
