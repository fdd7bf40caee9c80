// What the watched files hold, so that a write which leaves a file as it was is known for none.
//
// Contract: all of them are read once, before the first start, up to a limit; what is beyond it is new when it changes
// first. A file that is large is known by its size and time.
import { startOf } from "./gitignore.ts";

const MOST_FILES = 20_000;
const MOST_BYTES = 64 * 2 ** 20;
const LARGE = 2 ** 20;

/** Loaded when it is needed: this module shares a chunk with runs that watch nothing. */
const fs = () => process.getBuiltinModule("node:fs");

export interface ContentComparison {
  readonly isEqual: boolean;
  /** Milliseconds since 1970: when the file was last changed; undefined when it is not there. */
  readonly changedAt: number | undefined;
}

export class Contents {
  readonly #known = new Map<string, string | null>();
  #bytes = 0;
  #isComplete = true;

  /** Takes a file in as it is. */
  note(path: string): void {
    this.#isComplete = this.#known.size < MOST_FILES && this.#bytes < MOST_BYTES;
    if (!this.#isComplete) return;
    const { print, size } = read(path);
    this.#known.set(path, print);
    this.#bytes += size;
  }

  /** Looks at a file again, and takes it in as it is now. */
  look(path: string): ContentComparison {
    const { print, changedAt } = read(path);
    // What was not there at the start, and came and went since, has not changed.
    const before = this.#known.get(path) ?? (this.#isComplete || this.#known.has(path) ? null : undefined);
    const isEqual = before === print;
    this.#known.set(path, print);
    return { isEqual, changedAt };
  }

  /** Whether there was something in it and is nothing now: a program that writes a file anew empties it first. */
  isEmptied(path: string): boolean {
    const print = this.#known.get(path);
    return print !== undefined && print !== null && print !== EMPTY && read(path).print === EMPTY;
  }

  /** The files that are known to have been in a directory. */
  below(directory: string): string[] {
    const start = startOf(directory);
    return [...this.#known].flatMap(([path, print]) =>
      print !== null && path.startsWith(start) ? [path] : [],
    );
  }
}

const EMPTY = String(Bun.hash(""));

/** `print` is null where there is no such file. */
function read(path: string): { print: string | null; size: number; changedAt: number | undefined } {
  try {
    const stat = fs().statSync(path);
    const { size, mtimeMs, ctimeMs } = stat;
    // Of a pipe, to read is to wait.
    if (size > LARGE || !stat.isFile()) return { print: `${size} ${mtimeMs}`, size: 0, changedAt: ctimeMs };
    return { print: String(Bun.hash(fs().readFileSync(path))), size, changedAt: ctimeMs };
  } catch {
    return { print: null, size: 0, changedAt: undefined };
  }
}
