// A session with a credential store of its own, for machines without one and for output that must not depend on the
// user's: GNOME Keyring on a private bus, gone when the command ends.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

export interface PrivateSession {
  /** Stands in front of a command. */
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const UNLOCK =
  'printf session | gnome-keyring-daemon --unlock --components=secrets > /dev/null; exec "$@" 2>&3 3>&-';

/** Only the command gets to write to standard error: the bus tells there of each service that it starts. */
const QUIETLY = 'exec 3>&2 2> /dev/null; exec dbus-run-session -- sh -c "$0" sh "$@"';

/** Undefined where the programs for it are not installed. Its files are in the directory, which must exist. */
export async function openPrivateSession(directory: string): Promise<PrivateSession | undefined> {
  if (!Bun.which("dbus-run-session") || !Bun.which("gnome-keyring-daemon")) return undefined;
  const env = { HOME: join(directory, "home"), XDG_RUNTIME_DIR: join(directory, "runtime") };
  for (const path of Object.values(env)) await mkdir(path, { mode: 0o700 });
  return { prefix: ["sh", "-c", QUIETLY, UNLOCK], env };
}
