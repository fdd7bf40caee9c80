// Reads the state of a path and compares two states.
import { errorCode } from "../caught-error.ts";
import { TIMESTAMP_GRANULARITY } from "./contract/stat-fingerprint.ts";
import type { PathState } from "../tracing/contract/tracing.ts";

const fs = process.getBuiltinModule("node:fs");

const TYPE = 0o170000;
const KINDS: Readonly<Record<number, PathState["kind"]>> = {
  0o100000: "file",
  0o040000: "directory",
  0o120000: "link",
};
const PERMISSIONS = 0o7777;

export function statPath(path: string): PathState {
  try {
    const found = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (!found) return { kind: "absent", code: "ENOENT" };
    const kind = KINDS[Number(found.mode) & TYPE] ?? "other";
    const mode = Number(found.mode) & PERMISSIONS;
    if (kind === "directory") return { kind, mode };
    if (kind === "link") return { kind, target: fs.readlinkSync(path) };
    if (kind !== "file") return { kind: "other" };
    const { dev, ino, size, mtimeNs, ctimeNs, nlink } = found;
    return {
      kind,
      stamp: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}:${nlink}`,
      size: Number(size),
      mode,
      isFresh: Number(ctimeNs / 1_000_000n) > Date.now() - TIMESTAMP_GRANULARITY,
    };
  } catch (error) {
    return { kind: "absent", code: errorCode(error) ?? "EIO" };
  }
}

export function listDirectoryNames(path: string): readonly string[] | null {
  try {
    const entries = fs.readdirSync(path, { withFileTypes: true });
    return entries
      .map(
        (each) =>
          `${each.isFile() ? "f" : each.isDirectory() ? "d" : each.isSymbolicLink() ? "l" : "o"}${each.name}`,
      )
      .sort();
  } catch {
    return null;
  }
}

export function isSame(one: PathState, other: PathState): boolean {
  if (one.kind === "file") return other.kind === "file" && other.stamp === one.stamp;
  if (one.kind === "link") return other.kind === "link" && other.target === one.target;
  if (one.kind === "directory") return other.kind === "directory" && other.mode === one.mode;
  return one.kind === other.kind;
}

/** Fields of a stamp before the ctime and the number of hard links. */
const CONTENT_FIELDS = 4;

/**
 * Returns whether only the ctime of a file with hard links differs. Another installation changes it when it links the file
 * of its store (pnpm, Bun); a write would change the mtime, too.
 */
export function isRelinked(one: PathState, other: PathState): boolean {
  if (one.kind !== "file" || other.kind !== "file" || one.mode !== other.mode) return false;
  const [before, now] = [one.stamp.split(":"), other.stamp.split(":")];
  const isLinked = Number(before.at(-1)) > 1 || Number(now.at(-1)) > 1;
  return isLinked && before.every((field, index) => index >= CONTENT_FIELDS || field === now[index]);
}
