// Directories with one link each to a program, under other names, private to the user.
//
// Surprising: Windows lets only some users make symbolic links, so there it is a second name of the same file or,
// from one drive to another, a copy. Such a name stays with the old file when the program is replaced, and cannot be
// replaced while somebody runs it; so the directory is named after the file, not only after its path.
import { copyFileSync, existsSync, linkSync, readlinkSync, renameSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { inPrivateDirectory, makePrivate } from "./private-file.ts";

const isWindows = process.platform === "win32";

/** A directory that holds a link of this name to `program`. Throws PrivateDirectoryError. */
export function makeLink(program: string, name: string): string {
  const user = process.getuid?.() ?? 0;
  const key = Bun.hash(isWindows ? `${program} ${describeFile(program)}` : program).toString(36);
  return inPrivateDirectory(`rt-links-${user}-${key}`, (base) => {
    const directory = join(base, name);
    makePrivate(directory);
    link(program, join(directory, isWindows ? `${name}.exe` : name));
    return directory;
  });
}

function describeFile(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
}

function link(program: string, path: string): void {
  if (isWindows ? existsSync(path) : isLinkTo(program, path)) return;
  // Renamed into place: another rt may be making the same link.
  const draft = `${path}.${process.pid}`;
  if (isWindows) linkOrCopy(program, draft);
  else symlinkSync(program, draft);
  renameSync(draft, path);
}

function isLinkTo(program: string, path: string): boolean {
  try {
    return readlinkSync(path) === program;
  } catch {
    return false;
  }
}

function linkOrCopy(program: string, path: string): void {
  try {
    linkSync(program, path);
  } catch {
    copyFileSync(program, path);
  }
}
