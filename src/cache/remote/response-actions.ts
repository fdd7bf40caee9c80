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
  remote_caching_disabled: "is switched off for this team",
  remote_caching_over_limit: "is over its limit for this team",
  remote_caching_paused: "is paused for this team",
};

export const TOO_LARGE = "What a script made is too large for the shared cache";
const WITHOUT = "scripts run without it";
const UNSHARED = "what they make here is not shared";

/** Handles any status but 200. @param timeoutMs response timeout, which also limits the backoff */
export function reactToRead(
  status: number,
  code: string | undefined,
  retryAfter: string | null,
  timeoutMs: number,
): ResponseAction {
  switch (status) {
    case 401:
      return { disables: "both", message: `The shared cache does not accept the token (401); ${WITHOUT}` };
    case 403:
      return code === "forbidden"
        ? { disables: "both", message: `The shared cache is forbidden with this token (403); ${WITHOUT}` }
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
        ? `The shared cache ${disabled}; ${UNSHARED}`
        : `The shared cache takes nothing with this token (403); ${UNSHARED}`,
    };
  if (status === 401)
    return { disables: "writing", message: `The shared cache does not accept the token (401); ${UNSHARED}` };
  if (status === 413) return { message: `${TOO_LARGE} (413)` };
  return { message: `The shared cache did not take what a script made (${status})` };
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
            message: `The shared cache does not accept the credentials (${name}); ${UNSHARED}`,
          }
        : {
            disables: "both",
            message: `The shared cache does not accept the credentials (${name}); ${WITHOUT}`,
          };
    case "PERMISSION_DENIED":
      return isWrite
        ? {
            disables: "writing",
            message: `The shared cache takes nothing with these credentials (${name}); ${UNSHARED}`,
          }
        : {
            disables: "both",
            message: `The shared cache is forbidden with these credentials (${name}); ${WITHOUT}`,
          };
    case "UNAVAILABLE":
      return { disables: "both", message: describeUnreachable(name) };
    default:
      return isWrite
        ? { isFailure: true, message: `The shared cache did not take what a script made (${name})` }
        : { isFailure: true, message: describeRefusal(name) };
  }
}

/** The server's capabilities exclude writes. */
export const READ_ONLY = `The shared cache takes nothing from here; ${UNSHARED}`;
export const DAMAGED = "What the shared cache sends is not what it says, so it is not used";

/** @param reason printable */
export function describeUnusable(reason: string): string {
  return `The shared cache cannot be used: ${reason}; ${WITHOUT}`;
}

/** @param code of the system or the engine */
export function describeUnreachable(code: string): string {
  return `The shared cache cannot be reached (${code}); ${WITHOUT}`;
}

/** @param name HTTP or gRPC status */
function describeRefusal(name: string | number): string {
  return `The shared cache did not answer what was asked (${name})`;
}

/** @param isWrite whether an upload timed out, after which reads continue */
export function describeTimeout(seconds: number, isWrite: boolean): string {
  return `The shared cache did not answer within ${seconds} s; ${isWrite ? UNSHARED : WITHOUT}`;
}

function retryDelayOf(retryAfter: string | null): number {
  const seconds = /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) : undefined;
  return seconds === undefined ? PAUSE : Math.min(seconds * 1000, MAX_RETRY_DELAY);
}
