// Decodes the recorder's journal (../../native/linux/recorder/journal.h) and passes its records to the trace builder.
//
// Invariants:
// - A path's state precedes every record that mentions the path.
// - The reader accesses no file.
import type { PathState } from "../contract/tracing.ts";
import { errorCode } from "../../native/posix/libc.ts";
import { ACCESSES } from "./access-kinds.ts";
import type { TraceEntry, TraceBuilder } from "./trace-builder.ts";
import { noteUntraceable } from "./untraceable-calls.ts";

/** `enum record` of journal.h. */
const [ACCESS_RECORD, STATE_RECORD, NAMES_RECORD, UNTRACEABLE_RECORD, CALL_RECORD, LISTING_RECORD] = [
  1, 2, 3, 4, 5, 6,
];
const PROCESS_RECORD = 7;
/** Sizes in bytes: of an access record, and of the head of any other record. */
const [ACCESS_SIZE, HEAD_SIZE] = [6, 5];

/** `enum access`, then `OPENS` and `RENAMES` of syscall-handlers.h. */
const LABELS: Readonly<Record<number, string>> = {
  ...Object.fromEntries(ACCESSES.entries()),
  20: "open",
  21: "rename",
};

export class Journal {
  /** `thread access path` of each call, if they are recorded. */
  readonly calls: string[] = [];
  readonly #builder: TraceBuilder;
  /** Indexed by path number, from 1. */
  #entries: TraceEntry[] = [];
  #rest: Buffer = Buffer.alloc(0);

  constructor(builder: TraceBuilder) {
    this.#builder = builder;
  }

  /** Begins the journal of the next script step. */
  begin(): void {
    [this.#entries, this.#rest] = [[], Buffer.alloc(0)];
  }

  /** @param chunk may end within a record. An internal error becomes an incomplete reason. */
  read(chunk: Buffer): void {
    try {
      const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
      this.#rest = Buffer.from(bytes.subarray(this.#readRecords(bytes)));
    } catch (error) {
      this.#builder.addIncompleteReason("supervisor", (error as Error).message);
    }
  }

  /** Returns the offset of the first incomplete record. */
  #readRecords(bytes: Buffer): number {
    for (let at = 0; ;) {
      if (at + ACCESS_SIZE > bytes.length) return at;
      if (bytes[at] === ACCESS_RECORD) {
        this.#builder.recordAccess(
          this.#entry(bytes.readUInt32LE(at + 1)),
          ACCESSES[bytes[at + HEAD_SIZE]!]!,
        );
        at += ACCESS_SIZE;
        continue;
      }
      const end = at + HEAD_SIZE + bytes.readUInt32LE(at + 1);
      if (end > bytes.length) return at;
      this.#readRecord(bytes[at]!, new JournalRecordReader(bytes, at + HEAD_SIZE, end));
      at = end;
    }
  }

  #readRecord(kind: number, reader: JournalRecordReader): void {
    switch (kind) {
      case STATE_RECORD:
        return this.#readState(reader);
      case NAMES_RECORD:
        return this.#builder.compareListing(
          this.#entry(reader.word()),
          reader.rest().split("\0").slice(0, -1).sort(),
        );
      case UNTRACEABLE_RECORD:
        return noteUntraceable(this.#builder, {
          kind: reader.word(),
          pid: reader.word(),
          number: reader.word(),
          address: Uint8Array.from(reader.bytes()),
          path: reader.rest(),
        });
      case LISTING_RECORD:
        return this.#builder.noteListing(this.#entry(reader.word()), reader.word());
      case PROCESS_RECORD: {
        this.#builder.process = { pid: reader.word(), program: reader.rest() };
        return;
      }
      case CALL_RECORD: {
        const label = LABELS[reader.byte()]!;
        this.calls.push(`${reader.word()} ${label} ${reader.rest()}`);
      }
    }
  }

  #entry(number: number): TraceEntry {
    const entry = this.#entries[number];
    if (!entry) throw new Error("the journal mentions an unknown path");
    return entry;
  }

  #readState(reader: JournalRecordReader): void {
    const number = reader.word();
    const state = readState(reader);
    const path = reader.rest();
    if (path.includes(REPLACEMENT) && !Buffer.from(path).equals(reader.restBytes()))
      this.#builder.addIncompleteReason("name", path);
    const isFirst = this.#entries[number] === undefined;
    this.#entries[number] = isFirst
      ? this.#builder.observeInNextStep(path, state)
      : this.#builder.observe(path, state);
  }
}

/** Replaces bytes that are not UTF-8; a file name may contain the character itself. */
const REPLACEMENT = "\uFFFD";

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

  /** Reads 64 bits. */
  long(): number {
    return (this.word() >>> 0) + this.word() * 2 ** 32;
  }

  /** Reads a length and as many bytes, which are valid until the next chunk. */
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
