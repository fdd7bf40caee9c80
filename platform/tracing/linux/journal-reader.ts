// What the recorder (../native/recorder) has written, in its order, told to the observation: what it saw of paths, what calls did
// with them, and what is no matter of paths alone.
//
// Contract: each path is seen before it is mentioned. Nobody looks at a file in here.
import type { PathState } from "../contract/tracing.ts";
import { errorCode } from "../../native/posix/libc.ts";
import { ACCESSES } from "./access-kinds.ts";
import type { TraceEntry, TraceBuilder } from "./trace-builder.ts";
import { noteUntraceable } from "./untraceable-calls.ts";

/** `enum record` of journal.h. */
const [NOTE, LOOK, NAMES, UNUSUAL, CALLED_WITH, LISTED] = [1, 2, 3, 4, 5, 6];
/** Bytes of a note, which has no size of its own, and of what stands in front of each other record. */
const [NOTE_SIZE, HEAD] = [6, 5];

/** Behind `enum access`, `OPENS` and `RENAMES` of recorder.c. */
const LABELS: Readonly<Record<number, string>> = {
  ...Object.fromEntries(ACCESSES.entries()),
  20: "open",
  21: "rename",
};

export class Journal {
  /** `thread access path` of each call, where they are written. */
  readonly calls: string[] = [];
  readonly #observation: TraceBuilder;
  /** By their numbers, from 1 on. */
  #entries: TraceEntry[] = [];
  #rest: Buffer = Buffer.alloc(0);

  constructor(observation: TraceBuilder) {
    this.#observation = observation;
  }

  /** The next step of the script has a journal of its own. */
  begin(): void {
    [this.#entries, this.#rest] = [[], Buffer.alloc(0)];
  }

  /** @param chunk of the journal, which may end within a record. A fault of rt's own is a doubt. */
  read(chunk: Buffer): void {
    try {
      const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
      this.#rest = Buffer.from(bytes.subarray(this.#readRecords(bytes)));
    } catch (error) {
      this.#observation.doubt("supervisor", (error as Error).message);
    }
  }

  /** Up to where. */
  #readRecords(bytes: Buffer): number {
    for (let at = 0; ;) {
      if (at + NOTE_SIZE > bytes.length) return at;
      if (bytes[at] === NOTE) {
        this.#observation.note(this.#entry(bytes.readUInt32LE(at + 1)), ACCESSES[bytes[at + HEAD]!]!);
        at += NOTE_SIZE;
        continue;
      }
      const end = at + HEAD + bytes.readUInt32LE(at + 1);
      if (end > bytes.length) return at;
      this.#readRecord(bytes[at]!, new JournalRecordReader(bytes, at + HEAD, end));
      at = end;
    }
  }

  #readRecord(kind: number, reader: JournalRecordReader): void {
    switch (kind) {
      case LOOK:
        return this.#see(reader);
      case NAMES:
        return this.#observation.list(
          this.#entry(reader.word()),
          reader.rest().split("\0").slice(0, -1).sort(),
        );
      case UNUSUAL:
        return noteUntraceable(this.#observation, {
          kind: reader.word(),
          pid: reader.word(),
          number: reader.word(),
          address: Uint8Array.from(reader.bytes()),
          path: reader.rest(),
        });
      case LISTED:
        return this.#observation.noteListing(this.#entry(reader.word()), reader.word());
      case CALLED_WITH: {
        const label = LABELS[reader.byte()]!;
        this.calls.push(`${reader.word()} ${label} ${reader.rest()}`);
      }
    }
  }

  #entry(number: number): TraceEntry {
    const entry = this.#entries[number];
    if (!entry) throw new Error("a path is mentioned that nobody has seen");
    return entry;
  }

  #see(reader: JournalRecordReader): void {
    const number = reader.word();
    const state = readState(reader);
    const path = reader.rest();
    if (path.includes(REPLACEMENT) && !Buffer.from(path).equals(reader.restBytes()))
      this.#observation.doubt("name", path);
    const isFirst = this.#entries[number] === undefined;
    this.#entries[number] = isFirst
      ? this.#observation.seeAgain(path, state)
      : this.#observation.see(path, state);
  }
}

/** What stands for bytes that are no text; a name may have it, too. */
const REPLACEMENT = "\uFFFD";

/** One record. */
class JournalRecordReader {
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
    const length = this.word();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  rest(): string {
    return this.#bytes.toString("utf8", this.#at, this.#end);
  }

  restBytes(): Buffer {
    return this.#bytes.subarray(this.#at, this.#end);
  }
}

function readState(reader: JournalRecordReader): PathState {
  const what = String.fromCharCode(reader.byte());
  const isFresh = reader.byte() !== 0;
  const mode = reader.short();
  const size = reader.long();
  const detail = reader.bytes().toString("utf8");
  switch (what) {
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
