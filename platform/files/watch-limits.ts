// How much of a file system may be watched, where the system counts it.
import { files } from "./files.ts";

export interface WatchLimits {
  /** Folders, over all programs of this user. */
  readonly watches: number;
  /** Programs that watch, or their parts. */
  readonly instances: number;
}

const PLACE = "/proc/sys/fs/inotify/";

/** Undefined where there is no such limit. */
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
