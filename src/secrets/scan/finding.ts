// What `rt secrets check` finds: where, and by which rule; never what.

export interface LeakFinding {
  /** As it is named to the user: relative to where rt was started, with slashes. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** "github/GITHUB_TOKEN" of the list; "key", "variable", "npmrc", "script", "config" of our own. */
  readonly rule: string;
  /** The variable, key or script, where the rule is about one. */
  readonly name?: string | undefined;
}

export interface CheckedText {
  readonly file: string;
  readonly text: string;
}
