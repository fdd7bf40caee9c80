// One entry of the Windows Credential Manager: the structure CREDENTIALW, and the encoding of its value.
//
// Non-obvious: encodings differ. Bun and keytar store UTF-8, whereas Python's keyring, Git Credential Manager and `cmdkey` store
// UTF-16LE text. Entries of rt are marked in their comment and contain UTF-8 or any bytes. Other entries are detected, with
// preference for UTF-8.
import { ptr, type Pointer, read, toArrayBuffer } from "bun:ffi";
import { isUtf8, transcode } from "node:buffer";

/** Maximum size of an entry's value in bytes (CRED_MAX_CREDENTIAL_BLOB_SIZE). */
export const MAX_BLOB = 5 * 512;

/** CRED_PERSIST_LOCAL_MACHINE and CRED_PERSIST_ENTERPRISE. */
export const PERSISTENCE = { local: 2, enterprise: 3 } as const;
export type Persistence = keyof typeof PERSISTENCE;

/** CRED_TYPE_GENERIC: Windows itself does not use the entry. */
export const GENERIC = 1;

export interface WindowsCredential {
  readonly target: string;
  readonly userName: string;
  readonly comment: string;
  /** Zeroized by the owner of the credential. */
  readonly blob: Uint8Array;
}

/** Size and field offsets of the structure, on 64-bit systems. */
const SIZE = 80;
const FIELD = {
  type: 4,
  targetName: 8,
  comment: 16,
  blobSize: 32,
  blob: 40,
  persist: 48,
  userName: 72,
} as const;

export interface EncodedCredential {
  readonly structure: Uint8Array;
  /** Buffers that the structure points to. The blob belongs to the credential. */
  readonly buffers: readonly Uint8Array[];
}

export function encodeCredential(
  { target, userName, comment, blob }: WindowsCredential,
  persist: Persistence,
): EncodedCredential {
  const structure = new Uint8Array(SIZE);
  const view = new DataView(structure.buffer);
  const texts = [target, comment, userName].map(encodeWide);
  const point = (offset: number, buffer: Uint8Array) =>
    view.setBigUint64(offset, buffer.length === 0 ? 0n : BigInt(ptr(buffer)), true);
  view.setUint32(FIELD.type, GENERIC, true);
  view.setUint32(FIELD.blobSize, blob.length, true);
  view.setUint32(FIELD.persist, PERSISTENCE[persist], true);
  point(FIELD.targetName, texts[0]!);
  point(FIELD.comment, texts[1]!);
  point(FIELD.userName, texts[2]!);
  point(FIELD.blob, blob);
  return { structure, buffers: [...texts, blob] };
}

/** Copies the entry at an address and zeroizes the blob there; null for an entry that is not generic. */
export function takeCredential(address: number): WindowsCredential | null {
  const at = address as Pointer;
  const size = read.u32(at, FIELD.blobSize);
  const blobAddress = size === 0 ? 0 : read.ptr(at, FIELD.blob);
  const original = new Uint8Array(
    blobAddress === 0 ? new ArrayBuffer(0) : toArrayBuffer(blobAddress, 0, size),
  );
  const isGeneric = read.u32(at, FIELD.type) === GENERIC;
  const credential = isGeneric && {
    target: decodeWide(read.ptr(at, FIELD.targetName)),
    userName: decodeWide(read.ptr(at, FIELD.userName)),
    comment: decodeWide(read.ptr(at, FIELD.comment)),
    blob: copySecret(original),
  };
  original.fill(0);
  return credential || null;
}

/**
 * Copies into a buffer that does not move. The engine moves the storage of a small array when a second view is created, and does not
 * zeroize the old storage.
 */
export function copySecret(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new ArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

/** Returns UTF-16LE with a terminating NUL. */
export function encodeWide(text: string): Uint8Array {
  return Buffer.from(`${text}\0`, "utf16le");
}

function decodeWide(address: number): string {
  if (address === 0) return "";
  let length = 0;
  while (read.u16(address, length) !== 0) length += 2;
  return length === 0 ? "" : Buffer.from(toArrayBuffer(address as Pointer, 0, length)).toString("utf16le");
}

/** Converts another program's value to UTF-8. Returns the same buffer if it is UTF-8 already or not text. */
export function toUtf8(blob: Uint8Array): Uint8Array {
  if (isUtf8(blob) && !hasWideZeros(blob)) return blob;
  if (!isWideText(blob)) return blob;
  const text = transcode(blob, "utf16le", "utf8");
  blob.fill(0);
  return text;
}

/** Returns whether most odd bytes are zero, as in UTF-16LE of European languages. */
function hasWideZeros(blob: Uint8Array): boolean {
  let balance = 0;
  for (let index = 0; index < blob.length; index++) {
    if (blob[index] === 0) balance += index % 2 === 1 ? 1 : -1;
  }
  return balance > 0;
}

/** Returns whether the bytes are UTF-16LE without NUL and unpaired surrogates. */
function isWideText(blob: Uint8Array): boolean {
  if (blob.length % 2 !== 0) return false;
  let wantsLow = false;
  for (let index = 0; index < blob.length; index += 2) {
    const unit = blob[index]! | (blob[index + 1]! << 8);
    const isLow = unit >= 0xdc00 && unit < 0xe000;
    if (unit === 0 || isLow !== wantsLow) return false;
    wantsLow = unit >= 0xd800 && unit < 0xdc00;
  }
  return !wantsLow;
}
