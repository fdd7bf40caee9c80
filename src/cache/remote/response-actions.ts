// Maps responses of a cache server to actions: retry, disable, message. Follows turbo, so that servers for turbo work
// with rt.
//
// Invariants:
// - Pure. No response fails a script.

export interface ResponseAction {
  /** Milliseconds until one retry; undefined for no retry. */
  readonly retryDelay?: number;
  /** Operations that are disabled for the rest of the run. */
  readonly disables?: "reading" | "writing" | "both";
  /** Whether this counts as a failed request (MAX_FAILED_REQUESTS). */
  readonly isFailure?: true;
  /** A warning, printed once per run; with a retry, printed if the retry fails too. */
  readonly message?: string;
}

/** After so many failed requests the cache is disabled. */
export const MAX_FAILED_REQUESTS = 3;
/** Backoff in milliseconds. */
const PAUSE = 2000;
const MAX_RETRY_DELAY = 10_000;

/** Error codes of a server for teams without access. */
const DISABLED: Readonly<Record<string, string>> = {
  __proto__: null as never,
  remote_caching_disabled: "disabled for this team",
  remote_caching_over_limit: "over the limit for this team",
  remote_caching_paused: "paused for this team",
};

export const TOO_LARGE = "Shared cache: outputs exceed the upload limit";
const WITHOUT = "continuing without it";
const UNSHARED = "results are not uploaded";

/** Handles any status but 200. @param timeoutMs response timeout, which also limits the backoff */
export function reactToRead(
  status: number,
  code: string | undefined,
  retryAfter: string | null,
  timeoutMs: number,
): ResponseAction {
  switch (status) {
    case 401:
      return { disables: "both", message: `Shared cache: token rejected (401); ${WITHOUT}` };
    case 403:
      return code === "forbidden"
        ? { disables: "both", message: `Shared cache: access denied (403); ${WITHOUT}` }
        : {};
    case 429:
      return { retryDelay: Math.min(retryDelayOf(retryAfter), timeoutMs), message: describeRefusal(status) };
    case 500:
    case 502:
    case 503:
    case 504:
      return { retryDelay: Math.min(PAUSE, timeoutMs), message: describeRefusal(status) };
    default:
      return {};
  }
}

export function reactToWrite(status: number, code: string | undefined): ResponseAction {
  const disabled = DISABLED[code ?? ""];
  if (status === 403)
    return {
      disables: "writing",
      message: disabled
        ? `Shared cache: ${disabled}; ${UNSHARED}`
        : `Shared cache: token has no write access (403); ${UNSHARED}`,
    };
  if (status === 401)
    return { disables: "writing", message: `Shared cache: token rejected (401); ${UNSHARED}` };
  if (status === 413) return { message: `${TOO_LARGE} (413)` };
  return { message: `Shared cache: upload failed (${status})` };
}

/** Handles a gRPC status of a Remote Execution API server. */
export function reactToStatus(name: string, isWrite: boolean): ResponseAction {
  switch (name) {
    case "NOT_FOUND":
      return {};
    case "UNAUTHENTICATED":
      return isWrite
        ? {
            disables: "writing",
            message: `Shared cache: credentials rejected (${name}); ${UNSHARED}`,
          }
        : {
            disables: "both",
            message: `Shared cache: credentials rejected (${name}); ${WITHOUT}`,
          };
    case "PERMISSION_DENIED":
      return isWrite
        ? {
            disables: "writing",
            message: `Shared cache: credentials have no write access (${name}); ${UNSHARED}`,
          }
        : {
            disables: "both",
            message: `Shared cache: access denied (${name}); ${WITHOUT}`,
          };
    case "UNAVAILABLE":
      return { disables: "both", message: describeUnreachable(name) };
    default:
      return isWrite
        ? { isFailure: true, message: `Shared cache: upload failed (${name})` }
        : { isFailure: true, message: describeRefusal(name) };
  }
}

/** The server's capabilities exclude writes. */
export const READ_ONLY = `Shared cache: the server is read-only; ${UNSHARED}`;
export const DAMAGED = "Shared cache: corrupted data, ignored";

/** @param reason printable */
export function describeUnusable(reason: string): string {
  return `Shared cache: cannot use the server: ${reason}; ${WITHOUT}`;
}

/** @param code of the system or the engine */
export function describeUnreachable(code: string): string {
  return `Shared cache: cannot connect (${code}); ${WITHOUT}`;
}

/** @param name HTTP or gRPC status */
function describeRefusal(name: string | number): string {
  return `Shared cache: unexpected response (${name})`;
}

/** @param isWrite whether an upload timed out, after which reads continue */
export function describeTimeout(seconds: number, isWrite: boolean): string {
  return `Shared cache: no response within ${seconds} s; ${isWrite ? UNSHARED : WITHOUT}`;
}

function retryDelayOf(retryAfter: string | null): number {
  const seconds = /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) : undefined;
  return seconds === undefined ? PAUSE : Math.min(seconds * 1000, MAX_RETRY_DELAY);
}
