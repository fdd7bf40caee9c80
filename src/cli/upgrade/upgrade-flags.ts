// Options of `rt upgrade`, for its help and the completions.
import type { Flag } from "../../secrets/commands.ts";

export const UPGRADE_FLAGS: readonly Flag[] = [
  { name: "sha256", value: "sum", help: "Accept a file with this SHA-256, signed or not" },
  { name: "allow-downgrade", help: "Allow an older version" },
  { name: "rollback", help: "Restore the previous version" },
];
