// Lists the terminals of this process, which a task with permissions may open again by their paths.
import { operations as host } from "../../processes/posix/process.ts";

export function listTerminals(): readonly string[] {
  const terminals = [0, 1, 2].filter((descriptor) => host.isTerminal(descriptor));
  const paths = terminals.map((descriptor) => targetOf(`/proc/self/fd/${descriptor}`));
  return [...new Set(paths)].filter((path) => path.startsWith("/dev/pts/"));
}

function targetOf(link: string): string {
  try {
    return process.getBuiltinModule("node:fs").readlinkSync(link);
  } catch {
    return "";
  }
}
