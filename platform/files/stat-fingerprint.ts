// Selects the fast stat fingerprints of this operating system, for comparing thousands of paths.
import type { StatFingerprintOperations } from "./contract/stat-fingerprint.ts";
import * as linux from "./linux/stat-fingerprint.ts";

/** Undefined if the system has none. */
export const stamps: StatFingerprintOperations | undefined =
  process.platform === "linux" ? linux.operations : undefined;
