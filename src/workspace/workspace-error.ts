// What can be wrong with a workspace as a whole or with what was asked of it. A file that does not parse is a
// PackageJsonError instead, which knows the place.

export class WorkspaceError extends Error {
  override readonly name = "WorkspaceError";
  /** What to do about it; printed on a line of its own. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}
