// The parts of `rt` that are ours, each loaded when it is first touched.
//
// In a compiled program's own process these are chunks of it. Elsewhere (see embedded-parts.ts) this module is
// one script, which is why nothing may happen here before a function is called.
import type { CSRF } from "../csrf/csrf.ts";
import type { Secrets } from "../secrets/secrets.ts";

export interface Parts {
  /** A promise, since an `import()` takes a fifth of the first `require` of a process. */
  loadSecrets(): Promise<Secrets>;
  loadCSRF(): typeof CSRF;
}

export const PARTS: Parts = {
  loadSecrets: async () => (await import("../secrets/secrets.ts")).secrets,
  loadCSRF: () => (require("../csrf/csrf.ts") as typeof import("../csrf/csrf.ts")).CSRF,
};
