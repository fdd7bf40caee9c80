// An error that the user can resolve: printed as one error line and hints. Any other exception is a bug in rt and keeps its
// stack trace.
//
// Non-obvious:
// - The executable may contain several copies of this class (build/bundle/main-copies.ts), so compare `name`, not the class.

export class UserError extends Error {
  override readonly name = "UserError";
  /** Imperative or command, printed on one line each. */
  readonly hint: string | readonly string[] | undefined;
  /** Exit code of rt. */
  readonly status: number;

  constructor(message: string, hint?: string | readonly string[], status = 1) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}
