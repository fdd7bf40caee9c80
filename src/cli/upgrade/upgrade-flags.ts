// Options of `rt upgrade`, for its help and the completions.

export const UPGRADE_FLAGS: readonly { name: string; value?: string; help: string }[] = [
  { name: "sha256", value: "sum", help: "Accept a file with this SHA-256, signed or not" },
  { name: "allow-downgrade", help: "Allow an older version" },
  { name: "rollback", help: "Restore the previous version" },
];
