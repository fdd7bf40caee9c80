// Everything a script has written, to be shown later: in memory while it is little, in a nameless temporary
// file when it is much, so that a talkative script costs disk and not memory. Where there is no place for such a file it
// stays in memory.
//
// Surprising: the engine's modules are asked for when a file is, as this one shares a chunk with runs that need none.
import { temporaryDirectory } from "../../../platform/temporary-directory.ts";

const fs = () => process.getBuiltinModule("node:fs");

const KEPT_IN_MEMORY = 1 << 20;
const CHUNK = 1 << 16;

export class TaskLog {
  #chunks: Uint8Array[] = [];
  #size = 0;
  /** Null where there is no place for one. */
  #file: number | null | undefined;
  #fileSize = 0;

  get isEmpty(): boolean {
    return this.#size === 0 && this.#fileSize === 0;
  }

  append(bytes: Uint8Array): void {
    this.#chunks.push(bytes.slice());
    this.#size += bytes.length;
    if (this.#size > KEPT_IN_MEMORY) this.#spill();
  }

  /** Hands everything out, in order, and forgets it. */
  *take(): Generator<Uint8Array> {
    if (typeof this.#file === "number") {
      const buffer = new Uint8Array(CHUNK);
      for (let position = 0; position < this.#fileSize;) {
        const count = fs().readSync(
          this.#file,
          buffer,
          0,
          Math.min(CHUNK, this.#fileSize - position),
          position,
        );
        if (count === 0) break;
        position += count;
        yield buffer.slice(0, count);
      }
      fs().closeSync(this.#file);
      this.#file = undefined;
      this.#fileSize = 0;
    }
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#size = 0;
    yield* chunks;
  }

  #spill(): void {
    if (this.#file === undefined) this.#file = openNameless();
    if (this.#file === null) return;
    for (const chunk of this.#chunks) {
      let start = 0;
      while (start < chunk.length)
        start += fs().writeSync(this.#file, chunk, start, chunk.length - start, this.#fileSize + start);
      this.#fileSize += chunk.length;
    }
    this.#chunks = [];
    this.#size = 0;
  }
}

/** Gone from the directory at once: a crash leaves nothing behind. */
function openNameless(): number | null {
  const { mkdtempSync, openSync, rmdirSync, unlinkSync } = fs();
  const { join } = process.getBuiltinModule("node:path");
  let directory: string;
  let path: string;
  let file: number;
  try {
    directory = mkdtempSync(join(temporaryDirectory(), "rt-log-"));
    path = join(directory, "log");
    file = openSync(path, "wx+", 0o600);
  } catch {
    return null;
  }
  try {
    unlinkSync(path);
    rmdirSync(directory);
  } catch {
    // Windows removes no open file; its temporary directory is cleaned by the system.
  }
  return file;
}
