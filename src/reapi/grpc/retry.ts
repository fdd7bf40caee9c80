// Retries calls with exponential backoff after transient errors.
//
// Invariants: every call ends with its timeout and its signal.
import { Code } from "./grpc-status.ts";

export interface Limits {
  /** Milliseconds; absent for no timeout. */
  readonly timeout?: number;
  readonly signal: AbortSignal;
}

/** The server failed or violated the protocol. The message may be shown after it was made printable. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  /** A code of grpc-status.ts. */
  readonly code: number | undefined;
  /** Whether the content did not match its digest or could not be decoded. */
  readonly isDamaged: boolean;

  constructor(message: string, code?: number, isDamaged = false) {
    super(message);
    this.code = code;
    this.isDamaged = isDamaged;
  }
}

/** Maximum number of attempts. */
export const TRIES = 4;
const BASE_BACKOFF = 100; // ms, doubled at each attempt

/** Unreachable, out of resources, or aborted by a concurrent operation. */
export function isTransient(code: number | undefined): boolean {
  return code === Code.UNAVAILABLE || code === Code.RESOURCE_EXHAUSTED || code === Code.ABORTED;
}

/**
 * @param call repeated after a transient error, so it has to be idempotent @throws RemoteError, or the signal's
 * reason
 */
export async function retry<Response>(
  limits: Limits,
  call: (limits: Limits) => Promise<Response>,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(limits);
    } catch (error) {
      limits.signal.throwIfAborted();
      if (attempt >= TRIES || !isTransient(codeOf(error))) throw error;
      await backoff(attempt, limits.signal);
    }
  }
}

/** @param attempt 1-based */
export async function backoff(attempt: number, signal: AbortSignal): Promise<void> {
  await Bun.sleep(BASE_BACKOFF * 2 ** (attempt - 1));
  signal.throwIfAborted();
}

export function codeOf(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "number" ? code : undefined;
}
