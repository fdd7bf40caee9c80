// `rt types`: the declarations of `rt`, for a project's own type checker. The text is src/runtime/rt-types.d.ts, which
// type-checks this repository's own examples as well.
import declarations from "rt:types";

export const TYPES: string = declarations;
