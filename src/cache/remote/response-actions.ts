// What an answer of the server means for the rest of the run: the one table of what may go wrong there. It follows what
// turbo does, so that a server that serves turbo well serves rt well.
//
// Contract: pure. No answer is an error of the script's.

export interface ResponseAction {
  /** Whether to ask once more, and after how many milliseconds. */
  readonly retryDelay?: number;
  /** What is not tried any more in this run. */
  readonly disables?: "reading" | "writing" | "both";
  /** Whether nothing more is tried when this has come a few times. */
  readonly isFailure?: true;
  /** For people, once in a run; where it is asked once more, of the second time. */
  readonly message?: string;
}

/** So often may nothing come of a request. */
export const MAX_FAILED_REQUESTS = 3;
/** Milliseconds. */
const PAUSE = 2000;
const MAX_RETRY_DELAY = 10_000;

/** What the server calls a team that may not use it. */
const DISABLED: Readonly<Record<string, string>> = {
  __proto__: null as never,
  remote_caching_disabled: "is switched off for this team",
  remote_caching_over_limit: "is over its limit for this team",
  remote_caching_paused: "is paused for this team",
};

export const TOO_LARGE = "What a script made is too large for the shared cache";
const WITHOUT = "scripts run without it";
const UNSHARED = "what they make here is not shared";

/** Anything but 200. @param patience milliseconds that an answer may take, which no pause is longer than */
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

/** What a server of the Remote Execution API answers, by the names that gRPC has for it. */
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

/** It says by itself that it takes nothing from here. */
export const READ_ONLY = `The shared cache takes nothing from here; ${UNSHARED}`;
export const DAMAGED = "What the shared cache sends is not what it says, so it is not used";

/** What it can do is not enough, or it cannot even be asked. @param reason printable */
export function describeUnusable(reason: string): string {
  return `The shared cache cannot be used: ${reason}; ${WITHOUT}`;
}

/** Nothing came of a request at all. @param code of the system's or the engine's */
export function describeUnreachable(code: string): string {
  return `The shared cache cannot be reached (${code}); ${WITHOUT}`;
}

/** @param name what the protocol calls it */
function describeRefusal(name: string | number): string {
  return `The shared cache did not answer what was asked (${name})`;
}

/** @param isWrite whether it was to take something: reads go on then */
export function describeTimeout(seconds: number, isWrite: boolean): string {
  return `The shared cache did not answer within ${seconds} s; ${isWrite ? UNSHARED : WITHOUT}`;
}

function retryDelayOf(retryAfter: string | null): number {
  const seconds = /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) : undefined;
  return seconds === undefined ? PAUSE : Math.min(seconds * 1000, MAX_RETRY_DELAY);
}
