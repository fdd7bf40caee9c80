// Lists the directories with binaries of installed packages.
import { parentDirectory } from "../../workspace/package-json.ts";

/** Every `node_modules/.bin` from a directory upwards, whether it exists or not. */
export function binaryDirectories(from: string): string[] {
  const directories: string[] = [];
  for (let directory: string | null = from; directory !== null; directory = parentDirectory(directory)) {
    const base = directory === "/" ? "" : directory;
    if (!base.endsWith("/node_modules")) directories.push(`${base}/node_modules/.bin`);
  }
  return directories;
}
