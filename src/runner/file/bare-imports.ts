// Whether a program may ask for packages where there is no node_modules. Such a program is the engine's, which fetches them
// (specification, `--install`): here an import() or a require() of one would fail when other lines have run already.
//
// This is on the way of every start, beside the engine's reading of the file; so no more is looked at than it takes.
import { isThere, readMapped } from "../../../platform/files/mapped-files.ts";

/** What may lead to a module, in whatever way; a comment does no harm. */
const NAMED = ["import", "require", "from", "resolve", "Worker"];

export function mayAskForPackages(file: string): boolean {
  // Where most programs are, at a hundredth of the price: the size of a file is asked for before, too.
  if (Bun.file("node_modules").size !== 0 && isBelow(file, process.cwd())) return false;
  const text = readMapped(file);
  for (const word of NAMED) if (text.includes(word)) return !hasNodeModules(file);
  return false;
}

function isBelow(file: string, directory: string): boolean {
  return file.startsWith(directory === "/" ? directory : `${directory}/`);
}

/** There, or in any folder above. */
export function hasNodeModules(path: string): boolean {
  const file = path.replaceAll("\\", "/");
  for (let end = file.lastIndexOf("/"); end >= 0; end = end === 0 ? -1 : file.lastIndexOf("/", end - 1))
    if (isThere(`${file.slice(0, end)}/node_modules`)) return true;
  return false;
}
