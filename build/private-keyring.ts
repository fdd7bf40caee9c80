// Starts a throwaway D-Bus session with GNOME Keyring, for machines without a credential store and for reproducible output.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

export interface PrivateSession {
  /** Command prefix that runs a command in the session. */
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const UNLOCK =
  'printf session | gnome-keyring-daemon --unlock --components=secrets > /dev/null; exec "$@" 2>&3 3>&-';

/** Only the command may write to standard error: the bus reports each service that it starts there. */
const QUIETLY = 'exec 3>&2 2> /dev/null; exec dbus-run-session -- sh -c "$0" sh "$@"';

/** Returns undefined if its programs are not installed. @param directory an existing directory for its files */
export async function openPrivateSession(directory: string): Promise<PrivateSession | undefined> {
  if (!Bun.which("dbus-run-session") || !Bun.which("gnome-keyring-daemon")) return undefined;
  const env = { HOME: join(directory, "home"), XDG_RUNTIME_DIR: join(directory, "runtime") };
  for (const path of Object.values(env)) await mkdir(path, { mode: 0o700 });
  return { prefix: ["sh", "-c", QUIETLY, UNLOCK], env };
}
