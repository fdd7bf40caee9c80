// Lists the terminals of this process, which a task with permissions may open again by their paths.
import { readlinkSync } from "node:fs";

export function listTerminals(): readonly string[] {
  const paths = [0, 1, 2].map((descriptor) => targetOf(`/proc/self/fd/${descriptor}`));
  return [...new Set(paths)].filter((path) => path.startsWith("/dev/pts/"));
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}
