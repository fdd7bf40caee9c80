// Directories with one link each to a program, under other names, private to the user.
import { lstatSync, mkdirSync, readlinkSync, renameSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A directory that holds a link of this name to `program`. A directory in its place that is not the user's own, or
 * that others may write to, is an Error.
 */
export function makeLink(program: string, name: string): string {
  const user = process.getuid?.() ?? 0;
  const key = Bun.hash(program).toString(36);
  const base = join(process.env.XDG_RUNTIME_DIR ?? tmpdir(), `rt-links-${user}-${key}`);
  const directory = join(base, name);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const path of [base, directory]) checkPrivate(path, user);
  link(program, join(directory, process.platform === "win32" ? `${name}.exe` : name));
  return directory;
}

export function checkPrivate(path: string, user: number): void {
  if (process.platform === "win32") return;
  const { uid, mode } = lstatSync(path);
  if (uid !== user || (mode & 0o022) !== 0)
    throw new Error(`${path} can be changed by other users; remove it`);
}

function link(program: string, path: string): void {
  try {
    if (readlinkSync(path) === program) return;
  } catch {}
  // Renamed into place: another rt may be making the same link.
  const draft = `${path}.${process.pid}`;
  symlinkSync(program, draft);
  renameSync(draft, path);
}
