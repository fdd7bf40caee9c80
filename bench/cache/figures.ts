// What the cache of scripts costs: what is shared with others, and following a script, beside the same script without that.
// What it saves, hits.ts says.
import { join } from "node:path";
import { copyPrograms } from "../processes.ts";
import type { Row } from "../row.ts";
import { measureFollowing } from "./following.ts";
import { measureShared } from "./shared.ts";

const RT = join(import.meta.dir, "..", "..", "dist", "rt");

export async function measure(): Promise<Row[]> {
  await using programs = await copyPrograms({ rt: RT });
  const { directory, paths } = programs;
  const env = { XDG_CACHE_HOME: join(directory, "cache") };
  return [...(await measureShared(paths.rt!, directory)), ...(await measureFollowing(paths.rt!, env))];
}
