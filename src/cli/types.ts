// `rt types`: the declarations of `rt`, for a project's own type checker.
import declarations from "../runtime/rt-types.txt" with { type: "text" };

export const TYPES: string = declarations;
