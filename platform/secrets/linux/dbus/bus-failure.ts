// How a call on the session bus can fail.

export type BusFailureKind =
  /** No endpoint could be connected to. */
  | "unreachable"
  /** The bus did not accept us. */
  | "refused"
  /** The connection ended while the call was under way. */
  | "closed"
  | "timeout"
  /** What came is no D-Bus message, or no answer to the call. */
  | "malformed"
  /** The called service, or the bus on its behalf, answered with an error; `native` is its name. */
  | "answered";

export class BusFailure extends Error {
  readonly kind: BusFailureKind;
  readonly native: string | undefined;

  constructor(kind: BusFailureKind, text: string, native?: string) {
    super(text);
    this.kind = kind;
    this.native = native;
  }
}
