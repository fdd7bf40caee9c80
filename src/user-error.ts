// What the user of the command line can mend: one line on stderr, and a hint where there is one. Everything else that is
// thrown is a fault of rt's own and keeps its stack trace.
//
// Surprising: there may be several copies of this class in the program (build/chunks.ts), so it is known by its name.

export class UserError extends Error {
  override readonly name = "Failure";
  /** What to do about it; printed on a line of its own, or on one each. */
  readonly hint: string | readonly string[] | undefined;
  /** What rt exits with. */
  readonly status: number;

  constructor(message: string, hint?: string | readonly string[], status = 1) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}
