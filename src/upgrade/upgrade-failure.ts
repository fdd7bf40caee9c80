// What the user of `rt upgrade` can mend: a line on stderr, and a hint where there is one.

export class UpgradeFailure extends Error {
  override readonly name = "UpgradeFailure";
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}
