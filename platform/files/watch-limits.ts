// Reads the system's limits of file watching (inotify).
import { files } from "./files.ts";

export interface WatchLimits {
  /** Watched directories, of all programs of this user. */
  readonly watches: number;
  /** Watcher instances. */
  readonly instances: number;
}

const PLACE = "/proc/sys/fs/inotify/";

/** Returns undefined if the system has no such limit. */
export function watchLimits(): WatchLimits | undefined {
  if (process.platform !== "linux") return undefined;
  const [watches, instances] = [readNumber("max_user_watches"), readNumber("max_user_instances")];
  return watches !== undefined && instances !== undefined ? { watches, instances } : undefined;
}

function readNumber(name: string): number | undefined {
  const bytes = files.readFile(PLACE + name, 32);
  const count = typeof bytes === "string" ? Number.NaN : Number.parseInt(new TextDecoder().decode(bytes), 10);
  return Number.isNaN(count) ? undefined : count;
}
