// gRPC status codes, and how they are read: from trailers or headers, from a proxy's HTTP status, or from a stream
// reset.
//
// Invariants: pure. Every response maps to a code, and a response without a status is never OK.

export const Code = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export interface GrpcStatus {
  /** A code of `Code`, or an unknown one. */
  readonly code: number;
  readonly message: string;
}

export type Headers = Readonly<Record<string, string | string[] | number | undefined>>;

const NAMES = new Map<number, string>(Object.entries(Code).map(([name, code]) => [code, name]));

export function nameOf(code: number): string {
  return NAMES.get(code) ?? String(code);
}

/** Undefined if the headers contain no status. */
export function readStatus(headers: Headers): GrpcStatus | undefined {
  const text = headers["grpc-status"];
  if (text === undefined) return undefined;
  const code = /^\d{1,9}$/.test(String(text)) ? Number(text) : Code.UNKNOWN;
  return { code, message: decodeMessage(String(headers["grpc-message"] ?? "")) };
}

/** Returns an error if response headers are not those of gRPC. */
export function checkHeaders(headers: Headers): GrpcStatus | undefined {
  const status = Number(headers[":status"]);
  if (status !== 200) return { code: fromHttp(status), message: `it responded with HTTP ${status}` };
  const type = String(headers["content-type"] ?? "");
  if (/^application\/grpc(?:[+;]|$)/.test(type)) return undefined;
  return { code: Code.UNKNOWN, message: "the response is not gRPC" };
}

/** HTTP status to gRPC code, as gRPC specifies for proxies. */
function fromHttp(status: number): number {
  switch (status) {
    case 400:
      return Code.INTERNAL;
    case 401:
      return Code.UNAUTHENTICATED;
    case 403:
      return Code.PERMISSION_DENIED;
    case 404:
      return Code.UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
      return Code.UNAVAILABLE;
    default:
      return Code.UNKNOWN;
  }
}

/** HTTP/2 error codes. */
const [NO_ERROR, REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM, INADEQUATE_SECURITY] = [0, 7, 8, 11, 12];

/** Maps an HTTP/2 stream reset to a status. */
export function fromReset(error: number): GrpcStatus {
  const message = `it reset the stream (HTTP/2 error ${error})`;
  switch (error) {
    case NO_ERROR:
    case REFUSED_STREAM:
      return { code: Code.UNAVAILABLE, message };
    case CANCEL:
      return { code: Code.CANCELLED, message };
    case ENHANCE_YOUR_CALM:
      return { code: Code.RESOURCE_EXHAUSTED, message };
    case INADEQUATE_SECURITY:
      return { code: Code.PERMISSION_DENIED, message };
    default:
      return { code: Code.INTERNAL, message };
  }
}

/** Percent-decodes UTF-8 bytes; invalid sequences stay unchanged. */
function decodeMessage(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  const decoded: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const hex = bytes[at] === 0x25 ? /^[\da-fA-F]{2}$/.exec(text.slice(at + 1, at + 3)) : null;
    decoded.push(hex ? parseInt(hex[0], 16) : bytes[at]!);
    if (hex) at += 2;
  }
  return Buffer.from(decoded).toString();
}
