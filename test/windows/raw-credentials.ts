// Calls Windows' credential functions directly, like other programs. Used by store-agent.ts.
import { dlopen, type Pointer, ptr, read, toArrayBuffer } from "bun:ffi";

const { symbols: advapi } = dlopen("advapi32.dll", {
  CredReadW: { args: ["ptr", "u32", "u32", "ptr"], returns: "i32" },
  CredWriteW: { args: ["ptr", "u32"], returns: "i32" },
  CredDeleteW: { args: ["ptr", "u32", "u32"], returns: "i32" },
  CredEnumerateW: { args: ["u64", "u32", "ptr", "ptr"], returns: "i32" },
});
const { symbols: kernel } = dlopen("kernel32.dll", {
  CreateMutexW: { args: ["u64", "i32", "ptr"], returns: "u64" },
  WaitForSingleObject: { args: ["u64", "u32"], returns: "u32" },
  ReleaseMutex: { args: ["u64"], returns: "i32" },
});

export interface RawCredential {
  readonly target: string;
  readonly userName: string;
  /** In hexadecimal. */
  readonly blob: string;
  readonly persist?: number;
  readonly type?: number;
}

const wide = (text: string) => Buffer.from(`${text}\0`, "utf16le");

function textAt(address: number): string {
  let text = "";
  for (let offset = 0; address !== 0; offset += 2) {
    const unit = read.u16(address, offset);
    if (unit === 0) break;
    text += String.fromCharCode(unit);
  }
  return text;
}

function credentialAt(address: number): RawCredential {
  const at = address as Pointer;
  const size = read.u32(at, 32);
  return {
    type: read.u32(at, 4),
    target: textAt(read.ptr(at, 8)),
    userName: textAt(read.ptr(at, 72)),
    persist: read.u32(at, 48),
    blob: size === 0 ? "" : Buffer.from(toArrayBuffer(read.ptr(at, 40) as Pointer, 0, size)).toString("hex"),
  };
}

const GENERIC = 1;
let lock: bigint | undefined;

export const raw = {
  async write({ target, userName, blob, persist = 3 }: RawCredential): Promise<boolean> {
    const bytes = Buffer.from(blob, "hex");
    const [targetText, userText] = [wide(target), wide(userName)];
    const structure = new DataView(new ArrayBuffer(80));
    structure.setUint32(4, GENERIC, true);
    structure.setBigUint64(8, BigInt(ptr(targetText)), true);
    structure.setUint32(32, bytes.length, true);
    structure.setBigUint64(40, BigInt(ptr(bytes)), true);
    structure.setUint32(48, persist, true);
    structure.setBigUint64(72, BigInt(ptr(userText)), true);
    return advapi.CredWriteW(new Uint8Array(structure.buffer), 0) !== 0;
  },

  async read(target: string): Promise<RawCredential | null> {
    const out = new BigUint64Array(1);
    return advapi.CredReadW(wide(target), GENERIC, 0, out) ? credentialAt(Number(out[0])) : null;
  },

  async delete(target: string): Promise<boolean> {
    return advapi.CredDeleteW(wide(target), GENERIC, 0) !== 0;
  },

  /** Returns the sorted targets. */
  async list(): Promise<string[]> {
    const count = new Uint32Array(1);
    const out = new BigUint64Array(1);
    if (!advapi.CredEnumerateW(0, 0, count, out)) return [];
    const list = Number(out[0]) as Pointer;
    const all = Array.from({ length: count[0]! }, (_, index) => credentialAt(read.ptr(list, index * 8)));
    return all.map(({ target }) => target).sort();
  },

  /** Acquires the lock for writing, like a writer that hangs. */
  async lock(): Promise<void> {
    const name = `Local\\rt.secrets.${process.env.USERNAME ?? ""}`;
    lock = BigInt(kernel.CreateMutexW(0, 0, wide(name)));
    kernel.WaitForSingleObject(lock, 10_000);
  },

  async unlock(): Promise<void> {
    kernel.ReleaseMutex(lock!);
  },
};
