// What the recorder (../native/recorder) has written, in its order: what it saw of paths, which is kept, and calls, each of which
// is passed on when all is known that it is about.
//
// Contract: what was seen last counts, which is what was there before the call that is passed on. Nobody looks at a file in
// here: what was not written was not seen, and is an error.
import type { PathState } from "../../contract/tracing.ts";
import { errorCode } from "../../posix/libc.ts";
import type { Sight } from "./sight.ts";

/** "denied" where nobody may look into the process; "nothing" where there is none, or the call itself fails. */
export type Unread = "denied" | "nothing";

export interface FollowedCall {
  readonly number: number;
  readonly architecture: number;
  /** Of the thread. */
  readonly pid: number;
  /** The low half of each argument: all of it, unless it is an address. */
  readonly args: readonly number[];
  /** Absolute, by their places in the table; as bytes where it is not UTF-8. */
  readonly paths: readonly (string | Uint8Array | Unread)[];
  /** What an argument points to that is no path. */
  readonly extra: Uint8Array | Unread;
}

/** Kinds of records. */
const [LOOK, LIST, START, LINK, FOLLOWED] = [1, 2, 3, 4, 5];
/** Of a record: its size and its kind. */
const HEAD = 5;

const ARGUMENTS = 6;
const PATHS = 2;

export class Journal implements Sight {
  readonly #states = new Map<string, PathState>();
  readonly #names = new Map<string, readonly string[] | null>();
  readonly #starts = new Map<string, Buffer | null>();
  /** Of the call that comes next: they mean something else to each process, and at each time. */
  readonly #links = new Map<string, string | undefined>();
  readonly #onCall: (call: FollowedCall) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(onCall: (call: FollowedCall) => void) {
    this.#onCall = onCall;
  }

  /** @param chunk of the journal, which may end within a record */
  read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (at + HEAD <= bytes.length) {
      const end = at + HEAD + bytes.readUInt32LE(at);
      if (end > bytes.length) break;
      this.#take(bytes[at + 4]!, new Reader(bytes, at + HEAD, end));
      at = end;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
  }

  /** Of the next step of a script, which has a journal of its own. */
  begin(): void {
    this.#rest = Buffer.alloc(0);
  }

  look = (path: string): PathState => seen(this.#states, path);
  list = (path: string): readonly string[] | null => seen(this.#names, path);
  readStart = (path: string): Buffer | null => seen(this.#starts, path);
  readLink = (path: string): string | undefined => seen(this.#links, path);

  #take(kind: number, reader: Reader): void {
    if (kind === LOOK) {
      const state = readState(reader);
      this.#states.set(reader.rest(), state);
    } else if (kind === LIST) {
      const isListed = reader.byte() !== 0;
      const path = reader.text();
      this.#names.set(path, isListed ? reader.rest().split("\0").slice(0, -1).sort() : null);
    } else if (kind === START) {
      const isRead = reader.byte() !== 0;
      const start = Buffer.from(reader.bytes());
      this.#starts.set(reader.rest(), isRead ? start : null);
    } else if (kind === LINK) {
      const target = reader.text();
      const isPath = target.startsWith("/") && !target.endsWith(" (deleted)");
      this.#links.set(reader.rest(), isPath ? target : undefined);
    } else if (kind === FOLLOWED) {
      this.#onCall(readCall(reader));
      this.#links.clear();
    }
  }
}

function seen<Value>(known: ReadonlyMap<string, Value>, path: string): Value {
  const value = known.get(path);
  if (value === undefined && !known.has(path)) throw new Error(`nobody has looked at ${path}`);
  return value as Value;
}

/** One record. */
class Reader {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;

  constructor(bytes: Buffer, at: number, end: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  byte(): number {
    return this.#bytes[this.#at++]!;
  }

  short(): number {
    this.#at += 2;
    return this.#bytes.readUInt16LE(this.#at - 2);
  }

  word(): number {
    this.#at += 4;
    return this.#bytes.readInt32LE(this.#at - 4);
  }

  /** Of 64 bits. */
  long(): number {
    return (this.word() >>> 0) + this.word() * 2 ** 32;
  }

  /** With their length in front of them; valid until the next chunk. */
  bytes(): Buffer {
    return this.#cut(this.word());
  }

  text(): string {
    return this.bytes().toString("utf8");
  }

  rest(): string {
    return this.#bytes.toString("utf8", this.#at, this.#end);
  }

  /** With their length in front of them, or why there are none. */
  found(): Buffer | Unread {
    const length = this.word();
    return length >= 0 ? this.#cut(length) : length === -2 ? "denied" : "nothing";
  }

  #cut(length: number): Buffer {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

function readState(reader: Reader): PathState {
  const what = reader.byte();
  const isFresh = reader.byte() !== 0;
  const mode = reader.short();
  const size = reader.long();
  const detail = reader.text();
  switch (String.fromCharCode(what)) {
    case "f":
      return { kind: "file", stamp: detail, size, mode, isFresh };
    case "d":
      return { kind: "directory", mode };
    case "l":
      return { kind: "link", target: detail };
    case "a":
      return { kind: "absent", code: errorCode(mode) };
    default:
      return { kind: "other" };
  }
}

function readCall(reader: Reader): FollowedCall {
  const number = reader.word();
  const architecture = reader.word() >>> 0;
  const pid = reader.word();
  const args = Array.from({ length: ARGUMENTS }, () => reader.word());
  const paths = Array.from({ length: PATHS }, () => asText(reader.found()));
  const extra = reader.found();
  return {
    number,
    architecture,
    pid,
    args,
    paths,
    extra: typeof extra === "string" ? extra : Uint8Array.from(extra),
  };
}

/** What stands for bytes that are no text; a name may have it, too. */
const REPLACEMENT = "\uFFFD";

function asText(found: Buffer | Unread): string | Uint8Array | Unread {
  if (typeof found === "string") return found;
  const text = found.toString("utf8");
  return text.includes(REPLACEMENT) && !Buffer.from(text).equals(found) ? Uint8Array.from(found) : text;
}
