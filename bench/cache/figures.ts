// Measures the overhead of the script cache: shared caches and tracing, each compared with the same script without it. hits.ts
// measures the savings.
import { join } from "node:path";
import { copyPrograms } from "../processes.ts";
import type { Figure } from "../row.ts";
import { measureTracing } from "./tracing.ts";
import { measureShared } from "./shared.ts";

const RT = join(import.meta.dir, "..", "..", "dist", "rt");

export async function measure(): Promise<Figure[]> {
  await using programs = await copyPrograms({ rt: RT });
  const { directory, paths } = programs;
  const env = { XDG_CACHE_HOME: join(directory, "cache") };
  return [...(await measureShared(paths.rt!, directory)), ...(await measureTracing(paths.rt!, env))];
}
