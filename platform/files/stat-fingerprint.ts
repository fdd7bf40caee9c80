// Comparing thousands of paths with what they were, where this system has a call for it.
import type { StampOperations } from "./contract/stat-fingerprint.ts";
import * as linux from "./linux/stat-fingerprint.ts";

/** Undefined where there is no such thing. */
export const stamps: StampOperations | undefined =
  process.platform === "linux" ? linux.operations : undefined;
