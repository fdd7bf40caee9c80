// Parses the value of --inspect: `9000`, `host`, `host:9000`, `host:9000/path`, `[::1]:9000`, `ws://host:9000/path`.
//
// Invariants:
// - Without a host, both loopback addresses are used: an editor that tries 127.0.0.1 and ::1 gives up if one refuses.
// - The path is Web Inspector's; the path of Chrome's protocol is a random ID.

/** The default port of Node.js and its clients. */
export const DEFAULT_PORT = 9229;
const LOOPBACK = ["127.0.0.1", "::1"];

export interface InspectAddress {
  /** IPv6 addresses are without brackets. */
  readonly hostnames: readonly string[];
  /** 0 selects any free port. */
  readonly port: number;
  /** Begins with a slash; if undefined, a random path is created. */
  readonly path?: string;
}

/** Returns undefined for any other address, for example a Unix socket, which the engine handles. */
export function readAddress(value: string): InspectAddress | undefined {
  const match = /^(?:ws:\/\/)?(?:(\d+)(?![^/:])|(\[[\da-f:.]+\]|[^/:[\]]*)(?::(\d+))?)(\/.*)?$/i.exec(value);
  if (!match) return undefined;
  const [, alone, host = "", behind, path] = match;
  const port = Number(alone ?? behind ?? DEFAULT_PORT);
  const isBoth = host === "" || host === "localhost";
  return {
    hostnames: isBoth ? LOOPBACK : [host.replace(/^\[|\]$/g, "")],
    port,
    ...(path === undefined || path === "/" ? {} : { path }),
  };
}

/** Returns the host name as in a URL: IPv6 addresses in brackets. */
export function bracket(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}
