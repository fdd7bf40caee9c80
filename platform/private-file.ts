// Files of ours that no other user may read or replace, named after their content.
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkPrivate } from "./links.ts";

/**
 * Writes a file, unless one of the same content is there, and answers its path. A directory that is not the
 * user's own, or that others may write to, is an Error.
 */
export function writePrivateFile(name: string, extension: string, content: string | Uint8Array): string {
  const user = process.getuid?.() ?? 0;
  const directory = join(process.env.XDG_RUNTIME_DIR ?? tmpdir(), `rt-files-${user}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  checkPrivate(directory, user);
  const path = join(
    directory,
    `${name}-${new Bun.CryptoHasher("sha256").update(content).digest("hex").slice(0, 32)}.${extension}`,
  );
  if (existsSync(path)) return path;
  // Renamed into place: another rt may be writing the same file.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
  return path;
}
