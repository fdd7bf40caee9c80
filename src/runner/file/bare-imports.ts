// Checks whether a program may import packages although there is no node_modules. The engine then has to run it,
// because it fetches missing packages (`--install`); in this process an import() would fail after other lines have
// run.
//
// Non-obvious: part of every start, so it reads as little as possible.
import { isThere, readMapped } from "../../../platform/files/mapped-files.ts";

/** Words that every way to load a module contains. A match in a comment only costs time. */
const NAMED = ["import", "require", "from", "resolve", "Worker"];

export function mayAskForPackages(file: string): boolean {
  // The most frequent case, at a hundredth of the price: node_modules exists in the working directory.
  if (Bun.file("node_modules").size !== 0 && isBelow(file, process.cwd())) return false;
  const text = readMapped(file);
  for (const word of NAMED) if (text.includes(word)) return !hasNodeModules(file);
  return false;
}

function isBelow(file: string, directory: string): boolean {
  return file.startsWith(directory === "/" ? directory : `${directory}/`);
}

/** Whether node_modules exists next to the file or in any parent directory. */
export function hasNodeModules(path: string): boolean {
  const file = path.replaceAll("\\", "/");
  for (let end = file.lastIndexOf("/"); end >= 0; end = end === 0 ? -1 : file.lastIndexOf("/", end - 1))
    if (isThere(`${file.slice(0, end)}/node_modules`)) return true;
  return false;
}
