// What was picked in a workspace, the last first, in this user's own folder for such things.
//
// Contract: nothing depends on it: where it cannot be read or written, or is not what we have written, it is as if nothing
// had been picked.
import { openOwnFiles } from "../../../platform/files/state-directory.ts";

const MOST = 50;

export interface Picked {
  /** The package's. */
  readonly directory: string;
  readonly scriptName: string;
  /** As they were written. */
  readonly args: string;
}

export function readHistory(root: string): Picked[] {
  try {
    const list = JSON.parse(openOwnFiles("picked")?.read(fileOf(root)) ?? "[]") as unknown;
    return Array.isArray(list) ? list.filter(isPicked).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

export function remember(root: string, picked: Picked): void {
  const others = readHistory(root).filter(
    (each) => each.directory !== picked.directory || each.scriptName !== picked.scriptName,
  );
  try {
    openOwnFiles("picked")?.write(fileOf(root), JSON.stringify([picked, ...others].slice(0, MOST)));
  } catch {
    // Read-only, or no room: the next time it is not remembered.
  }
}

function fileOf(root: string): string {
  return `${new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 32)}.json`;
}

function isPicked(value: unknown): value is Picked {
  const { directory, scriptName, args } = (value ?? {}) as Record<string, unknown>;
  return typeof directory === "string" && typeof scriptName === "string" && typeof args === "string";
}
