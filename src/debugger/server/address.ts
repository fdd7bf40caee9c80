// What is written behind --inspect: `9000`, `host`, `host:9000`, `host:9000/path`, `[::1]:9000`, `ws://host:9000/path`.
//
// Contract: without a host it is this machine by both of its names, because an editor that asks 127.0.0.1 and ::1 at
// once takes a refusal by one of them for an answer. The path is that of Web Inspector; Chrome's has an id of its own.

/** Where Node.js listens, and where its clients look first. */
export const DEFAULT_PORT = 9229;
const LOOPBACK = ["127.0.0.1", "::1"];

export interface InspectAddress {
  /** Without brackets. */
  readonly hostnames: readonly string[];
  /** 0 is any that is free. */
  readonly port: number;
  /** With a slash in front; undefined where one is to be made that nobody guesses. */
  readonly path?: string;
}

/** undefined for what is no such address: a socket in the file system, say, which is the engine's to understand. */
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

/** As it stands in a URL. */
export function bracket(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}
