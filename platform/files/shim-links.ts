// Creates shim directories: private directories with one link to a program under another name.
//
// Non-obvious: on Windows only some users may create symlinks, so the link is a hard link or, across drives, a copy. Such a link
// stays with the old file when the program is upgraded, and cannot be replaced while it runs. So the directory is named after the
// file, not only after its path.
import { copyFileSync, existsSync, linkSync, readlinkSync, renameSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { inPrivateDirectory, makePrivate } from "./private-file.ts";

const isWindows = process.platform === "win32";

/** Returns a directory that contains a link of this name to `program`. @throws PrivateDirectoryError */
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
  // Atomic rename: another rt may be creating the same link (race).
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
