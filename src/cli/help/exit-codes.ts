// Exit codes of rt when it runs something, for the manual page and docs/reference/errors.md. The codes of `rt secrets` and `rt doctor`
// are in src/secrets/commands.ts.

export const EXIT_CODES: ReadonlyArray<{ readonly code: string; readonly meaning: string }> = [
  { code: "0", meaning: "Success" },
  { code: "1", meaning: "rt failed; standard error has the reason: error: ... and hint: ..." },
  { code: "any", meaning: "The exit code of the program or script that rt ran" },
  {
    code: "128 + n",
    meaning: "The exit code that a shell shows if signal n ended the program; rt ends by the same signal",
  },
];
