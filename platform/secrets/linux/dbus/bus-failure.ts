// Failures of calls on the session bus.

export type BusFailureKind =
  /** No endpoint accepted a connection. */
  | "unreachable"
  /** Authentication failed. */
  | "refused"
  /** The connection closed during the call. */
  | "closed"
  | "timeout"
  /** The received bytes are not a D-Bus message, or not a valid reply. */
  | "malformed"
  /** The service or the bus returned an error; `native` is its name. */
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
