// Everything a script has written, to be shown later: in memory while it is little, in a nameless temporary
// file when it is much, so that a talkative script costs disk and not memory.
//
// Contract: what was appended comes out whole and in order, or where it is missing says so. Where there is no place for a
// file, or no room in it, memory takes the rest, up to MOST_IN_MEMORY over all logs. When that is full, `append` of a log
// whose turn comes returns a promise, kept when it was handed out; one that is shown at the end, if at all, forgets
// its oldest part, counts what it has lost and tells it in that place. Failure when the file cannot be read again.
//
// Surprising: the engine's modules are asked for when a file is, as this one shares a chunk with runs that need none.
import { temporaryDirectory } from "../../platform/files/temporary-directory.ts";
import { UserError } from "../user-error.ts";

const fs = () => process.getBuiltinModule("node:fs");

/** Bytes, as everything here. */
const KEPT_IN_MEMORY = 1 << 20;
const MOST_IN_MEMORY = 64 << 20;
const CHUNK = 1 << 16;
/** What keeping a piece costs besides its bytes: a script may write them one by one. */
const OVERHEAD = 128;

/** In the memory of all logs that have no room in a file. */
let unspilled = 0;

export interface LogOptions {
  /** What becomes of a script's output for which there is no room. */
  readonly whenFull: "wait" | "forget";
  /** Told once, with the reason, when a script has to wait for room. */
  onWait?(reason: string): void;
}

export class TaskLog {
  readonly #options: LogOptions;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #file: number | undefined;
  #fileSize = 0;
  /** Why there is no file, or none that can grow: the system's code. */
  #obstacle: string | undefined;
  #lost = 0;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#size === 0 && this.#fileSize === 0;
  }

  /** Whether all that was appended is still there. */
  get isWhole(): boolean {
    return this.#lost === 0;
  }

  append(bytes: Uint8Array): void | Promise<void> {
    this.#chunks.push(bytes.slice());
    this.#size += costOf(bytes);
    if (this.#obstacle !== undefined) unspilled += costOf(bytes);
    else if (this.#size > KEPT_IN_MEMORY) this.#spill();
    if (this.#obstacle === undefined || unspilled <= MOST_IN_MEMORY) return;
    if (this.#options.whenFull === "forget") return this.#forgetOldest();
    if (!this.#room) {
      this.#room = Promise.withResolvers();
      this.#options.onWait?.(this.#obstacle);
    }
    return this.#room.promise;
  }

  /** Hands everything out, in order, and forgets it. */
  *take(): Generator<Uint8Array> {
    if (this.#file !== undefined) {
      const buffer = new Uint8Array(CHUNK);
      for (let position = 0; position < this.#fileSize;) {
        const count = readBack(this.#file, buffer, Math.min(CHUNK, this.#fileSize - position), position);
        position += count;
        yield buffer.slice(0, count);
      }
      this.#closeFile();
    }
    if (this.#lost > 0) yield new TextEncoder().encode(this.#describeLoss());
    while (this.#chunks.length > 0) {
      const chunks = this.#chunks;
      this.#chunks = [];
      for (const chunk of chunks) {
        this.#discount(chunk);
        yield chunk;
      }
    }
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** It will not be shown. */
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

  #forgetOldest(): void {
    let count = 0;
    for (; this.#size > KEPT_IN_MEMORY && unspilled > MOST_IN_MEMORY - KEPT_IN_MEMORY; count += 1) {
      const chunk = this.#chunks[count]!;
      this.#discount(chunk);
      this.#lost += chunk.length;
    }
    this.#chunks.splice(0, count);
  }

  #describeLoss(): string {
    return `\n[${this.#lost} bytes are missing here: no room in ${temporaryDirectory()}: ${this.#obstacle}]\n`;
  }

  /** A piece of which only a part found room is not counted as being in the file. */
  #spill(): void {
    let count = 0;
    try {
      this.#file ??= openNameless();
      for (const chunk of this.#chunks) {
        writeWhole(this.#file, chunk, this.#fileSize);
        this.#fileSize += chunk.length;
        this.#size -= costOf(chunk);
        count += 1;
      }
    } catch (error) {
      this.#obstacle = codeOf(error);
      unspilled += this.#size;
    }
    this.#chunks.splice(0, count);
  }
}

function costOf({ length }: Uint8Array): number {
  return length + OVERHEAD;
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? String(error);
}

function readBack(file: number, buffer: Uint8Array, length: number, position: number): number {
  let code = "it has become shorter";
  try {
    const count = fs().readSync(file, buffer, 0, length, position);
    if (count > 0) return count;
  } catch (error) {
    code = codeOf(error);
  }
  throw new UserError(
    `Cannot read again what was kept of a script's output in ${temporaryDirectory()}: ${code}`,
  );
}

function writeWhole(file: number, bytes: Uint8Array, position: number): void {
  for (let start = 0; start < bytes.length;)
    start += fs().writeSync(file, bytes, start, bytes.length - start, position + start);
}

/** Gone from the directory at once: a crash leaves nothing behind. */
function openNameless(): number {
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
      // Windows removes no open file; its temporary directory is cleaned by the system.
    }
    try {
      rmdirSync(parent);
    } catch {
      // As above.
    }
  }
}
