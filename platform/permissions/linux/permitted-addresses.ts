// The addresses that a task may connect to, in memory that the process with the task's listener reads: rt, or the task's launcher
// (../../native/linux/recorder/permitted-hosts.h).
//
// Invariants:
// - An entry is complete before its version is even. The reader ignores an entry that changes.
// - A full list loses its oldest entry.
import { ptr } from "../../native/posix/ffi.ts";
import type { AddressBytes } from "../ip-address.ts";

/** Sizes of `struct permitted_hosts`, in words of 4 bytes. */
const [HEADER, ENTRY, MAX_HOSTS] = [2, 6, 1024];
/** Words of an entry. */
const [VERSION, PORT, ADDRESS] = [0, 1, 2];
/** The counter of connections to the resolver and the number of entries, in the header. */
const [RESOLVING, CAPACITY] = [0, 1];

export class PermittedAddresses {
  /** Has its own ArrayBuffer, because native code keeps the address. */
  #words: Int32Array;
  readonly #keys: string[] = [];
  #next = 0;

  /** @param isFixed nothing is added */
  constructor(isFixed = false) {
    const entries = isFixed ? 0 : MAX_HOSTS;
    this.#words = new Int32Array(new ArrayBuffer((HEADER + ENTRY * entries) * 4));
    this.#words[CAPACITY] = entries;
  }

  /** The memory, to be copied to the start of a file. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.#words.buffer);
  }

  /** Uses the memory of a file with the copy from now on. @throws at the limit of open files */
  share(descriptor: number): void {
    const shared = Bun.mmap(`/proc/self/fd/${descriptor}`);
    this.#words = new Int32Array(shared.buffer, shared.byteOffset, this.#words.length);
  }

  get pointer(): bigint {
    return BigInt(ptr(this.#words));
  }

  /** @param port 0 for all ports */
  add(address: AddressBytes, port: number): void {
    if (this.#words[CAPACITY] === 0) throw new Error("The list of addresses is fixed");
    const key = `${address.toHex()} ${port}`;
    if (this.#keys.includes(key)) return;
    this.#keys[this.#next] = key;
    this.#write(HEADER + this.#next * ENTRY, address, port);
    this.#next = (this.#next + 1) % MAX_HOSTS;
  }

  /** Every store is atomic, so none is seen before the one that precedes it. */
  #write(at: number, address: AddressBytes, port: number): void {
    const words = this.#words;
    const version = Atomics.load(words, at + VERSION);
    Atomics.store(words, at + VERSION, version + 1);
    Atomics.store(words, at + PORT, ((port & 0xff) << 8) | (port >> 8));
    for (const [index, word] of new Int32Array(address.slice().buffer).entries())
      Atomics.store(words, at + ADDRESS + index, word);
    Atomics.store(words, at + VERSION, version + 2);
  }

  /** Called after a connection to the resolver is closed. */
  releaseConnection(): void {
    Atomics.sub(this.#words, RESOLVING, 1);
  }
}
