// Decides about retries: with exponential backoff after transient errors, within one budget for all calls and actions of a run.
//
// Invariants:
// - Every call ends with its timeout and its signal.
// - An action retries calls that retry themselves. The budget bounds their product.
import { Code } from "./grpc-status.ts";

export interface Limits {
  /** Milliseconds; absent for no timeout. */
  readonly timeout?: number;
  readonly signal: AbortSignal;
  readonly budget?: RetryBudget;
}

/** Maximum number of attempts of a call. */
const CALL_ATTEMPTS = 4;
/** Maximum number of attempts to execute an action, or to download its outputs. */
const ACTION_ATTEMPTS = 3;
const BASE_BACKOFF = 100; // ms, doubled at each attempt

/** The retries that a run may still make. */
export class RetryBudget {
  #left: number;

  constructor(size: number) {
    this.#left = size;
  }

  /** Takes one retry. Returns false if the operation may not be retried. @param attempt 1-based number of the failed attempt */
  take(attempt: number, operation: "call" | "action"): boolean {
    const attempts = operation === "call" ? CALL_ATTEMPTS : ACTION_ATTEMPTS;
    if (attempt >= attempts || this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }
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

/** Unreachable, out of resources, or aborted by a concurrent operation. */
export function isTransient(code: number | undefined): boolean {
  return code === Code.UNAVAILABLE || code === Code.RESOURCE_EXHAUSTED || code === Code.ABORTED;
}

/**
 * @param call repeated after a transient error, so it has to be idempotent @throws RemoteError, or the signal's
 * reason
 */
export async function retry<Response>(
  limits: Required<Limits>,
  call: (limits: Limits) => Promise<Response>,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(limits);
    } catch (error) {
      limits.signal.throwIfAborted();
      if (!isTransient(codeOf(error)) || !limits.budget.take(attempt, "call")) throw error;
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
