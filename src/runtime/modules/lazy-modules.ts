// Loads rt's API modules and the program compiler at first use.
//
// Invariants:
// - No code runs at module level. In rt's own process these modules are chunks of the executable. In a process started as the
//   engine, this file is part of one evaluated script (see embedded-modules.ts).

export interface LazyModules {
  /** Asynchronous, because `import()` takes a fifth of the time of a process's first `require`. */
  loadSecrets(): Promise<typeof import("../../secrets/api/secrets.ts")>;
  loadCSRF(): typeof import("../../csrf/csrf.ts");
  loadProgram(): typeof import("../compiled/compiled-program.ts");
}

export const PARTS: LazyModules = {
  loadSecrets: () => import("../../secrets/api/secrets.ts"),
  loadCSRF: () => require("../../csrf/csrf.ts") as typeof import("../../csrf/csrf.ts"),
  loadProgram: () =>
    require("../compiled/compiled-program.ts") as typeof import("../compiled/compiled-program.ts"),
};
