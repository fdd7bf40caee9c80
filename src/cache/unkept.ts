// Why a run that ended well is not kept, thrown by whoever finds out.
import type { Cause } from "./doubts.ts";

/** Not kept, because of this. */
export class Unkept extends Error {
  readonly why: Cause;
  readonly detail: string;

  constructor(why: Cause, detail: string) {
    super(detail);
    this.why = why;
    this.detail = detail;
  }
}
