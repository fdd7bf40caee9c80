// The process trees of this operating system, picked at build time: the bundler keeps one module for exactly this form.
import type { ProcessTreeOperations } from "./process-tree-operations.ts";

export const trees: ProcessTreeOperations =
  process.platform === "win32"
    ? await import("./windows/process-tree.ts")
    : await import("./posix/process-tree.ts");
