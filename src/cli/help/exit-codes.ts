// How rt ends when it runs something, for the manual page and docs/errors.md. `rt secrets` and `rt doctor` have codes
// of their own, in src/secrets/commands.ts.

export const EXIT_CODES: ReadonlyArray<{ readonly code: string; readonly meaning: string }> = [
  { code: "0", meaning: "What was asked for is done" },
  { code: "1", meaning: "rt could not do it, and has said why on standard error: error: ... and hint: ..." },
  { code: "any", meaning: "The exit code of the program or script that rt ran" },
  {
    code: "128 + n",
    meaning: "What a shell shows when signal n has ended the program: rt ends by the same signal",
  },
];
