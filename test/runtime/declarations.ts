// The declarations of `rt types` and the implementation are assignable to each other. Only the type checker of `npm
// test` reads this.
import type { CSRF as DeclaredCSRF, CSRFAlgorithm } from "rt";
import type * as csrf from "../../src/csrf/csrf.ts";

type Agrees<Declared, Implemented> = [Declared] extends [Implemented]
  ? [Implemented] extends [Declared]
    ? true
    : never
  : never;

export const agreement: [Agrees<DeclaredCSRF, typeof csrf.CSRF>, Agrees<CSRFAlgorithm, csrf.CSRFAlgorithm>] =
  [true, true];
