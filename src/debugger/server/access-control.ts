// Access control of the debugger, whose clients can run code as this user: checks the Host and Origin headers.
//
// Non-obvious:
// - A web page can send requests to this machine and, by DNS rebinding, read the responses. So the Host must be an IP address or
//   a name of this machine, and the Origin must be a known debugger front end.

/** Chrome's own front end. */
const CHROME = /^devtools:\/\//;
/** Web Inspector's public page, or any page served by this machine. The secret path of the URL authenticates these clients. */
const WEBKIT = /^https:\/\/debug\.bun\.sh$|^https?:\/\/(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})(?::\d+)?$/;

/** @param host the Host header, with or without a port @param own allowed host names */
export function isHostAllowed(host: string | null, own: readonly string[]): boolean {
  const name = /^(\[[\da-f:.]+\]|[^:]+)(?::\d+)?$/i.exec(host ?? "")?.[1]?.toLowerCase();
  if (name === undefined) return false;
  if (name.startsWith("[") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)) return true;
  return name === "localhost" || name === "localhost6" || own.includes(name);
}

export function isOriginAllowed(origin: string | null, isWebKit: boolean): boolean {
  return origin === null || (isWebKit ? WEBKIT : CHROME).test(origin);
}
