// Declares a finding of `rt secrets check`: its position and rule, never the credential.

export interface LeakFinding {
  /** Path relative to the working directory, with slashes. */
  readonly file: string;
  /** Line number from 1. */
  readonly line: number;
  /** A rule of secretlint ("github/GITHUB_TOKEN"), or of rt: "key", "variable", "npmrc", "script" or "config". */
  readonly rule: string;
  /** The variable, key or script that the rule matched. */
  readonly name?: string | undefined;
}

export interface CheckedText {
  readonly file: string;
  readonly text: string;
}
