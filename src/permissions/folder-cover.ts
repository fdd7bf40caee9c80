// Covers files with few folders. Pure.
import { dirname } from "node:path";
import { isWithin } from "../workspace/member-match.ts";

/** Removes folders within others. */
function removeNested(folders: readonly string[]): string[] {
  const kept: string[] = [];
  // NUL precedes all other characters, so a folder comes directly before those within it.
  const ordered = folders.map((folder) => folder.replaceAll("/", "\0")).toSorted();
  for (const folder of ordered.map((key) => key.replaceAll("\0", "/")))
    if (kept.length === 0 || !isWithin(folder, kept.at(-1)!)) kept.push(folder);
  return kept.toSorted();
}

/** Replaces folders by common parents until there are few. @param mayCover whether a parent is narrow enough */
export function coverFolders(
  folders: readonly string[],
  limit: number,
  mayCover: (folder: string) => boolean,
): string[] {
  let cover = removeNested(folders);
  while (cover.length > limit) {
    const parents = Map.groupBy(cover, dirname);
    const [widest] = [...parents]
      .filter(([parent]) => mayCover(parent))
      .toSorted(([, a], [, b]) => b.length - a.length);
    if (!widest) return cover;
    cover = removeNested([...cover, widest[0]]);
  }
  return cover;
}
