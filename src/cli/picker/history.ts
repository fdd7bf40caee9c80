// Stores the picks of each workspace, most recent first, in the user's state directory.
//
// Invariants:
// - The history is optional: if it cannot be read or written, or is invalid, it counts as empty.
import { openStateFiles } from "../../../platform/files/state-directory.ts";

const MAX_PICKS = 50;

export interface Picked {
  /** Absolute path of the package. */
  readonly directory: string;
  readonly scriptName: string;
  /** Unsplit, with quotes. */
  readonly args: string;
}

export function readHistory(root: string): Picked[] {
  try {
    const list = JSON.parse(openStateFiles("picked")?.read(fileOf(root)) ?? "[]") as unknown;
    return Array.isArray(list) ? list.filter(isPicked).slice(0, MAX_PICKS) : [];
  } catch {
    return [];
  }
}

export function remember(root: string, picked: Picked): void {
  const others = readHistory(root).filter(
    (each) => each.directory !== picked.directory || each.scriptName !== picked.scriptName,
  );
  try {
    openStateFiles("picked")?.write(fileOf(root), JSON.stringify([picked, ...others].slice(0, MAX_PICKS)));
  } catch {
    // The directory is read-only or the disk is full: this pick is not stored.
  }
}

function fileOf(root: string): string {
  return `${new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 32)}.json`;
}

function isPicked(value: unknown): value is Picked {
  const { directory, scriptName, args } = (value ?? {}) as Record<string, unknown>;
  return typeof directory === "string" && typeof scriptName === "string" && typeof args === "string";
}
