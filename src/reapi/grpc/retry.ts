// What may go wrong with a server, and what is asked again: it may answer otherwise a moment later.
//
// Contract: nothing lasts longer than its time limit, and all of it ends with its signal.
import { Code } from "./grpc-status.ts";

export interface Limits {
  /** Milliseconds; absent for as long as it takes. */
  readonly timeout?: number;
  readonly signal: AbortSignal;
}

/** The server cannot do what is asked, or did wrong. The message is fit for people when it has been made printable. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  /** Of grpc-status.ts. */
  readonly code: number | undefined;
  /** What it sends is not what it says. */
  readonly isDamaged: boolean;

  constructor(message: string, code?: number, isDamaged = false) {
    super(message);
    this.code = code;
    this.isDamaged = isDamaged;
  }
}

/** How often something is asked. */
export const TRIES = 4;
const PAUSE = 100; // ms, doubled each time

/** Unreachable, out of resources, in the way of another. */
export function isTransient(code: number | undefined): boolean {
  return code === Code.UNAVAILABLE || code === Code.RESOURCE_EXHAUSTED || code === Code.ABORTED;
}

/** @param call is made again where what goes wrong is passing. Throws RemoteError, or the signal's reason. */
export async function retry<Answer>(
  limits: Limits,
  call: (limits: Limits) => Promise<Answer>,
): Promise<Answer> {
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

/** @param attempt from 1 up */
export async function backoff(attempt: number, signal: AbortSignal): Promise<void> {
  await Bun.sleep(PAUSE * 2 ** (attempt - 1));
  signal.throwIfAborted();
}

export function codeOf(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "number" ? code : undefined;
}
