// Writing on this operating system, picked at build time: the bundler keeps one module for exactly this form.
import type { OutputOperations } from "./output-operations.ts";

export const outputs: OutputOperations =
  process.platform === "win32" ? await import("./windows/output.ts") : await import("./posix/output.ts");
