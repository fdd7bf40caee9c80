// A failure of the runner that the user can mend: one line on stderr, a hint where there is one.

export class RunFailure extends Error {
  override readonly name = "RunFailure";
  readonly hint: string | undefined;
  readonly status: number;

  constructor(message: string, hint?: string, status = 1) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}
