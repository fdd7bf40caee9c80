// What the files of a script were when it asked for them: what an observation goes by.
import type { List, Look } from "../../contract/tracing.ts";

/** Each throws where nobody has looked. */
export interface Sight {
  readonly look: Look;
  readonly list: List;
  /** The first bytes of a program; null where it cannot be read. */
  readStart(path: string): Buffer | null;
  /** Where a link of /proc leads; undefined where that is no path, or none any more. */
  readLink(path: string): string | undefined;
}
