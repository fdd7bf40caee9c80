// The hashes of files, remembered by what tells one content from another: device, inode, size and both times.
//
// Contract: a hash is of the content that the file had under this stamp: it is looked at again afterwards. What was
// changed a moment ago is not remembered, since a further change might leave the same stamp.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import type { Look, PathState } from "../../platform/contract/tracing.ts";

type FileState = Extract<PathState, { kind: "file" }>;

const CHUNK = 1 << 20;

/** One for the files of a project, and one that all projects share for everything else. */
export type Part = "inside" | "outside";

export class Hashes {
  readonly #look: Look;
  readonly #isInside: (path: string) => boolean;
  readonly #known: Readonly<Record<Part, Map<string, string>>>;
  readonly #changed = new Set<Part>();

  /** @param read what `takeText` gave */
  constructor(look: Look, isInside: (path: string) => boolean, read: (part: Part) => string | null) {
    this.#look = look;
    this.#isInside = isInside;
    this.#known = { inside: new Map(parse(read("inside"))), outside: new Map(parse(read("outside"))) };
  }

  /** Null where the file is another one by now, or cannot be read. */
  async hash(path: string, state: FileState): Promise<string | null> {
    const known = this.#known.inside.get(state.stamp) ?? this.#known.outside.get(state.stamp);
    if (known !== undefined) return known;
    try {
      const hash = state.size <= CHUNK ? hashBytes(readFileSync(path)) : await hashFile(path);
      const now = this.#look(path);
      if (now.kind !== "file" || now.stamp !== state.stamp) return null;
      if (!now.isFresh) this.#remember(this.#isInside(path) ? "inside" : "outside", state.stamp, hash);
      return hash;
    } catch {
      return null;
    }
  }

  #remember(part: Part, stamp: string, hash: string): void {
    this.#known[part].set(stamp, hash);
    this.#changed.add(part);
  }

  /** Null where nothing is new. */
  takeText(part: Part): string | null {
    if (!this.#changed.delete(part)) return null;
    // The newest are the last.
    return [...this.#known[part]]
      .slice(-MOST_REMEMBERED)
      .map((each) => each.join(" "))
      .join("\n");
  }
}

const MOST_REMEMBERED = 50_000;

function parse(text: string | null): [string, string][] {
  const lines = (text ?? "").split("\n").map((line) => line.split(" "));
  return lines.filter(
    (parts): parts is [string, string] => parts.length === 2 && /^[\da-f]{64}$/.test(parts[1]!),
  );
}

export function hashBytes(bytes: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

/** In pieces, so that what runs meanwhile is heard. */
export async function hashFile(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  const descriptor = openSync(path, "r");
  try {
    const buffer = new Uint8Array(CHUNK);
    for (let count = readSync(descriptor, buffer); count > 0; count = readSync(descriptor, buffer)) {
      hasher.update(buffer.subarray(0, count));
      await new Promise((next) => setImmediate(next));
    }
  } finally {
    closeSync(descriptor);
  }
  return hasher.digest("hex");
}
