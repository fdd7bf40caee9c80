// What is ours of `rt`, and what programs are made of, each loaded when it is first touched.
//
// In a compiled program's own process these are chunks of it. Elsewhere (see embedded-modules.ts) this module is
// one script, which is why nothing may happen here before a function is called.

export interface LazyModules {
  /** A promise, since an `import()` takes a fifth of the first `require` of a process. */
  loadSecrets(): Promise<typeof import("../../secrets/api/secrets.ts")>;
  loadCSRF(): typeof import("../../csrf/csrf.ts");
  loadProgram(): typeof import("../compiled/compiled-program.ts");
}

export const PARTS: LazyModules = {
  loadSecrets: () => import("../../secrets/api/secrets.ts"),
  loadCSRF: () => require("../../csrf/csrf.ts"),
  loadProgram: () => require("../compiled/compiled-program.ts"),
};
