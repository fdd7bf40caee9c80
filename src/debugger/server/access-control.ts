// Who may speak to the debugger, which is who may run code as this user.
//
// A web page can send requests to this machine, and by a name of its own that it points here can read the answers. So the
// name that was asked for must be an address or this machine's own, and a page may be no other than that of a debugger.

/** Of Chrome's protocol: what runs in a page is Chrome's own front end. */
const CHROME = /^devtools:\/\//;
/** Of Web Inspector: its page in the web, or one that this machine serves. Its path is what must be known. */
const WEBKIT = /^https:\/\/debug\.bun\.sh$|^https?:\/\/(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})(?::\d+)?$/;

/** @param host the header, with or without a port */
export function isHostAllowed(host: string | null, own: readonly string[]): boolean {
  const name = /^(\[[\da-f:.]+\]|[^:]+)(?::\d+)?$/i.exec(host ?? "")?.[1]?.toLowerCase();
  if (name === undefined) return false;
  if (name.startsWith("[") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)) return true;
  return name === "localhost" || name === "localhost6" || own.includes(name);
}

export function isOriginAllowed(origin: string | null, isWebKit: boolean): boolean {
  return origin === null || (isWebKit ? WEBKIT : CHROME).test(origin);
}
