// Buffers a script's output until it is shown: in memory while it is small, in an anonymous temporary file when it
// is large.
//
// Invariants:
// - Output is returned complete and in order, or a note replaces the missing part.
// - If the file cannot be created or extended, memory takes the rest, up to MAX_UNSPILLED over all logs. When that
//   is full, `append` returns a promise ("wait") or the oldest part is dropped ("drop").
// - A file that cannot be read again is a UserError.
//
// Non-obvious: node modules are loaded on demand, because runs that need no file load this module too.
import { errorReason } from "../../platform/caught-error.ts";
import { temporaryDirectory } from "../../platform/files/temporary-directory.ts";
import { UserError } from "../user-error.ts";

const fs = () => process.getBuiltinModule("node:fs");

/** Sizes are in bytes. */
const MAX_LOG_IN_MEMORY = 1 << 20;
const MAX_UNSPILLED = 64 << 20;
const CHUNK = 1 << 16;
/** Memory overhead of a chunk besides its bytes: a script may write them one by one. */
const OVERHEAD = 128;

/** Bytes in memory of all logs that cannot be written to a file. */
let unspilled = 0;

export interface LogOptions {
  /** Policy for output that does not fit: the script waits, or the oldest output is dropped. */
  readonly whenFull: "wait" | "drop";
  /** Called once, with the reason, when a script has to wait. */
  onWait?(reason: string): void;
}

export class TaskLog {
  readonly #options: LogOptions;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #file: number | undefined;
  #fileSize = 0;
  /** The system's error code, if there is no file or it cannot grow. */
  #obstacle: string | undefined;
  #dropped = 0;
  #spaceAvailable: PromiseWithResolvers<void> | undefined;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#size === 0 && this.#fileSize === 0;
  }

  /** Whether no output has been dropped. */
  get isWhole(): boolean {
    return this.#dropped === 0;
  }

  append(bytes: Uint8Array): void | Promise<void> {
    this.#chunks.push(bytes.slice());
    this.#size += costOf(bytes);
    if (this.#obstacle !== undefined) unspilled += costOf(bytes);
    else if (this.#size > MAX_LOG_IN_MEMORY) this.#spill();
    if (this.#obstacle === undefined || unspilled <= MAX_UNSPILLED) return;
    if (this.#options.whenFull === "drop") return this.#dropOldest();
    if (!this.#spaceAvailable) {
      this.#spaceAvailable = Promise.withResolvers();
      this.#options.onWait?.(this.#obstacle);
    }
    return this.#spaceAvailable.promise;
  }

  /** Returns the whole output in order and clears the log. */
  *take(): Generator<Uint8Array> {
    if (this.#file !== undefined) {
      const buffer = new Uint8Array(CHUNK);
      for (let position = 0; position < this.#fileSize;) {
        const count = readChunk(this.#file, buffer, Math.min(CHUNK, this.#fileSize - position), position);
        position += count;
        yield buffer.slice(0, count);
      }
      this.#closeFile();
    }
    if (this.#dropped > 0) yield new TextEncoder().encode(this.#describeDropped());
    while (this.#chunks.length > 0) {
      const chunks = this.#chunks;
      this.#chunks = [];
      for (const chunk of chunks) {
        this.#discount(chunk);
        yield chunk;
      }
    }
    this.#spaceAvailable?.resolve();
    this.#spaceAvailable = undefined;
  }

  /** Drops the output. */
  discard(): void {
    this.#closeFile();
    for (const chunk of this.#chunks) this.#discount(chunk);
    this.#chunks = [];
  }

  #closeFile(): void {
    if (this.#file !== undefined) fs().closeSync(this.#file);
    this.#file = undefined;
    this.#fileSize = 0;
  }

  #discount(chunk: Uint8Array): void {
    this.#size -= costOf(chunk);
    if (this.#obstacle !== undefined) unspilled -= costOf(chunk);
  }

  #dropOldest(): void {
    let count = 0;
    for (; this.#size > MAX_LOG_IN_MEMORY && unspilled > MAX_UNSPILLED - MAX_LOG_IN_MEMORY; count += 1) {
      const chunk = this.#chunks[count]!;
      this.#discount(chunk);
      this.#dropped += chunk.length;
    }
    this.#chunks.splice(0, count);
  }

  #describeDropped(): string {
    return `\n[${this.#dropped} bytes omitted: cannot write to ${temporaryDirectory()}: ${this.#obstacle}]\n`;
  }

  /** A chunk that was written partially does not count as being in the file. */
  #spill(): void {
    let count = 0;
    try {
      this.#file ??= openAnonymousFile();
      for (const chunk of this.#chunks) {
        writeWhole(this.#file, chunk, this.#fileSize);
        this.#fileSize += chunk.length;
        this.#size -= costOf(chunk);
        count += 1;
      }
    } catch (error) {
      this.#obstacle = errorReason(error);
      unspilled += this.#size;
    }
    this.#chunks.splice(0, count);
  }
}

function costOf({ length }: Uint8Array): number {
  return length + OVERHEAD;
}

function readChunk(file: number, buffer: Uint8Array, length: number, position: number): number {
  let code = "the file was truncated";
  try {
    const count = fs().readSync(file, buffer, 0, length, position);
    if (count > 0) return count;
  } catch (error) {
    code = errorReason(error);
  }
  throw new UserError(`Cannot read the buffered output of a script in ${temporaryDirectory()}: ${code}`);
}

function writeWhole(file: number, bytes: Uint8Array, position: number): void {
  for (let start = 0; start < bytes.length;)
    start += fs().writeSync(file, bytes, start, bytes.length - start, position + start);
}

/** Opens an anonymous file: it is unlinked at once, so a crash leaves nothing behind. */
function openAnonymousFile(): number {
  const { mkdtempSync, openSync, rmdirSync, unlinkSync } = fs();
  const { join } = process.getBuiltinModule("node:path");
  const parent = mkdtempSync(join(temporaryDirectory(), "rt-log-"));
  const path = join(parent, "log");
  try {
    return openSync(path, "wx+", 0o600);
  } finally {
    try {
      unlinkSync(path);
    } catch {
      // Windows cannot remove an open file; the system cleans its temporary directory.
    }
    try {
      rmdirSync(parent);
    } catch {
      // As above.
    }
  }
}
