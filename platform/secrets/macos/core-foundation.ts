// CoreFoundation objects for the keychain: strings, data, dictionaries, arrays.
//
// Invariants:
// - A Scope releases everything that it owns once, at its end, and zeroizes data before. No call blocks.
//
// Non-obvious:
// - A reference is a 64-bit number. Apple's arm64 stores short strings in the reference itself, with the highest bit set. A
//   pointer of bun:ffi cannot represent it.
// - A constant such as kSecClass is a variable. It is opened as a function that is never called, to get its address.
// - CFStringGetCharacters takes a structure of two integers by value, which both calling conventions pass as two integers.
import { dlopen, FFIType, type Pointer, ptr, read, toArrayBuffer } from "bun:ffi";
import { CORE_FOUNDATION } from "./frameworks.ts";

const { i64, i64_fast, ptr: pointer, u64 } = FFIType;

/** A CFTypeRef; 0n is NULL. */
export type CFReference = bigint;

const SYMBOLS = {
  CFRelease: { args: [u64], returns: FFIType.void },
  CFGetTypeID: { args: [u64], returns: u64 },
  CFStringGetTypeID: { args: [], returns: u64 },
  CFStringCreateWithCharacters: { args: [u64, pointer, i64], returns: u64 },
  CFStringGetLength: { args: [u64], returns: i64_fast },
  CFStringGetCharacters: { args: [u64, i64, i64, pointer], returns: FFIType.void },
  CFDataCreateMutable: { args: [u64, i64], returns: u64 },
  CFDataSetLength: { args: [u64, i64], returns: FFIType.void },
  CFDataGetMutableBytePtr: { args: [u64], returns: pointer },
  CFDataGetBytePtr: { args: [u64], returns: pointer },
  CFDataGetLength: { args: [u64], returns: i64_fast },
  CFDictionaryCreate: { args: [u64, pointer, pointer, i64, pointer, pointer], returns: u64 },
  CFDictionaryGetValue: { args: [u64, u64], returns: u64 },
  CFArrayGetCount: { args: [u64], returns: i64_fast },
  CFArrayGetValueAtIndex: { args: [u64, i64], returns: u64 },
  CFNumberGetValue: { args: [u64, i64, pointer], returns: FFIType.u8 },
} as const;

const CALLBACKS = ["kCFTypeDictionaryKeyCallBacks", "kCFTypeDictionaryValueCallBacks"] as const;
const DEFAULT_ALLOCATOR = 0n;
const SINT64 = 4; // kCFNumberSInt64Type

function open() {
  const { symbols } = dlopen(CORE_FOUNDATION, SYMBOLS);
  const [onKeys, onValues] = addressesOf(CORE_FOUNDATION, CALLBACKS);
  return { ...symbols, onKeys: onKeys!, onValues: onValues! };
}

let opened: ReturnType<typeof open> | undefined;

function framework(): ReturnType<typeof open> {
  return (opened ??= open());
}

function addressesOf(library: string, names: readonly string[]): Pointer[] {
  const symbols = Object.fromEntries(names.map((name) => [name, { args: [], returns: FFIType.void }]));
  const functions = dlopen(library, symbols).symbols as unknown as Record<string, { ptr: Pointer }>;
  return names.map((name) => functions[name]!.ptr);
}

/** Returns the objects in these variables of a framework, which owns them: they are never released. */
export function readConstants<Name extends string>(
  library: string,
  names: readonly Name[],
): Record<Name, CFReference> {
  const addresses = addressesOf(library, names);
  const entries = names.map((name, index) => [name, read.u64(addresses[index]!, 0)]);
  return Object.fromEntries(entries) as Record<Name, CFReference>;
}

export function readTrue(): CFReference {
  return readConstants(CORE_FOUNDATION, ["kCFBooleanTrue"]).kCFBooleanTrue;
}

export class Scope implements Disposable {
  readonly #owned: CFReference[] = [];
  readonly #data: CFReference[] = [];

  /** Takes ownership of the result of a ...Create... or ...Copy... function. @throws an Error for NULL */
  own(reference: CFReference): CFReference {
    if (reference === 0n) throw new Error("CoreFoundation has no memory left");
    this.#owned.push(reference);
    return reference;
  }

  string(text: string): CFReference {
    const units = Uint16Array.from({ length: text.length || 1 }, (_, index) => text.charCodeAt(index));
    return this.own(
      framework().CFStringCreateWithCharacters(DEFAULT_ALLOCATOR, ptr(units), BigInt(text.length)),
    );
  }

  dictionary(entries: readonly (readonly [key: CFReference, value: CFReference])[]): CFReference {
    const { CFDictionaryCreate, onKeys, onValues } = framework();
    const keys = BigUint64Array.from(entries, ([key]) => key);
    const values = BigUint64Array.from(entries, ([, value]) => value);
    const count = BigInt(entries.length);
    return this.own(CFDictionaryCreate(DEFAULT_ALLOCATOR, ptr(keys), ptr(values), count, onKeys, onValues));
  }

  data(bytes: Uint8Array): CFReference {
    const { CFDataCreateMutable, CFDataSetLength, CFDataGetMutableBytePtr } = framework();
    const data = this.ownData(CFDataCreateMutable(DEFAULT_ALLOCATOR, 0n));
    if (bytes.length === 0) return data;
    CFDataSetLength(data, BigInt(bytes.length));
    memoryAt(CFDataGetMutableBytePtr(data)!, bytes.length).set(bytes);
    return data;
  }

  /** As `own`, for data: its content is zeroized at the end of the scope. */
  ownData(reference: CFReference): CFReference {
    this.own(reference);
    this.#data.push(reference);
    return reference;
  }

  [Symbol.dispose](): void {
    for (const data of this.#data.splice(0)) contentOf(data)?.fill(0);
    for (const reference of this.#owned.splice(0).toReversed()) framework().CFRelease(reference);
  }
}

function memoryAt(address: Pointer | bigint, length: number): Uint8Array {
  return new Uint8Array(toArrayBuffer(address, 0, length));
}

function contentOf(data: CFReference): Uint8Array | undefined {
  const length = framework().CFDataGetLength(data);
  return length === 0 ? undefined : memoryAt(framework().CFDataGetBytePtr(data)!, Number(length));
}

export function readData(data: CFReference): Uint8Array {
  return contentOf(data)?.slice() ?? new Uint8Array(0);
}

export function readString(reference: CFReference): string | undefined {
  const { CFGetTypeID, CFStringGetTypeID, CFStringGetLength, CFStringGetCharacters } = framework();
  if (reference === 0n || CFGetTypeID(reference) !== CFStringGetTypeID()) return undefined;
  const length = Number(CFStringGetLength(reference));
  const bytes = Buffer.alloc(length * 2 || 2);
  CFStringGetCharacters(reference, 0n, BigInt(length), ptr(bytes));
  return bytes.toString("utf16le", 0, length * 2);
}

export function readNumber(reference: CFReference): number {
  const value = new BigInt64Array(1);
  if (reference !== 0n) framework().CFNumberGetValue(reference, BigInt(SINT64), ptr(value));
  return Number(value[0]);
}

/** Returns NULL if the key is absent. The dictionary owns the result. */
export function readEntry(dictionary: CFReference, key: CFReference): CFReference {
  return framework().CFDictionaryGetValue(dictionary, key);
}

/** The array owns the results. */
export function readArray(array: CFReference): CFReference[] {
  const count = Number(framework().CFArrayGetCount(array));
  return Array.from({ length: count }, (_, index) =>
    framework().CFArrayGetValueAtIndex(array, BigInt(index)),
  );
}
