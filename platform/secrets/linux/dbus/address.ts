// Parses D-Bus server addresses, as in the specification's "Server Addresses", for Unix sockets only. A list is tried in order.
//
//   unix:path=/run/user/1000/bus   unix:abstract=/tmp/dbus-x,guid=...   unix:runtime=yes   a;b;c
//
// The default is systemd's `$XDG_RUNTIME_DIR/bus`.

export interface Endpoint {
  /** The original text, for messages. */
  readonly label: string;
  /** Argument of connect(2): a path, or a NUL byte and the abstract name. */
  readonly path: string;
}

type BusEnvironment = Record<string, string | undefined>;

/** Returns the session bus's address list of this environment. */
export function sessionBusAddress(env: BusEnvironment, uid: number): string {
  return env.DBUS_SESSION_BUS_ADDRESS || `unix:path=${escapeValue(`${runtimeDirectory(env, uid)}/bus`)}`;
}

/** Returns the endpoints of an address list, without unusable entries. */
export function parseAddresses(list: string, env: BusEnvironment, uid: number): Endpoint[] {
  const endpoints: Endpoint[] = [];
  for (const label of list.split(";")) {
    const path = label.startsWith("unix:")
      ? socketPath(parseParameters(label.slice(5)), env, uid)
      : undefined;
    if (path !== undefined) endpoints.push({ label, path });
  }
  return endpoints;
}

function socketPath(parameters: Map<string, string>, env: BusEnvironment, uid: number): string | undefined {
  const abstract = parameters.get("abstract");
  if (abstract !== undefined) return `\0${abstract}`;
  if (parameters.get("runtime") === "yes") return `${runtimeDirectory(env, uid)}/bus`;
  return parameters.get("path");
}

function parseParameters(text: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of text.split(",")) {
    const equals = pair.indexOf("=");
    if (equals > 0) parameters.set(pair.slice(0, equals), unescapeValue(pair.slice(equals + 1)));
  }
  return parameters;
}

function runtimeDirectory(env: BusEnvironment, uid: number): string {
  return env.XDG_RUNTIME_DIR || `/run/user/${uid}`;
}

function unescapeValue(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // invalid escapes stay as they are
  }
}

function escapeValue(path: string): string {
  return encodeURIComponent(path).replaceAll("%2F", "/");
}
