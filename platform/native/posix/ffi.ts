// The engine's foreign function interface without the module `bun:ffi`, which takes 0.2 ms to load.
//
// Non-obvious:
// - Arguments are neither checked nor converted: a value for `i32` must be an integer to the engine too (a constant, an
//   index, a result of a function or of an Int32Array).
import type * as bunFFI from "bun:ffi";

type Native = Pick<typeof bunFFI, "dlopen" | "ptr" | "read"> & {
  readonly CString: (pointer: bunFFI.Pointer, offset?: number, length?: number) => string;
};

/** Undocumented: another version of the engine may provide it only through the module. */
const { FFI } = Bun as unknown as { FFI: Native };

export const { ptr, read } = FFI;

export const dlopen: typeof bunFFI.dlopen = (path, symbols) => {
  const library = FFI.dlopen(path, symbols);
  if (library instanceof Error) throw library;
  return library;
};

/** Reads up to the NUL byte, or `length` bytes (at least one). */
export const readCString = FFI.CString;

/** The type numbers of bun:ffi. */
export const FFIType = {
  i32: 5,
  u32: 6,
  i64: 7,
  u64: 8,
  ptr: 12,
  i64_fast: 15,
} as unknown as typeof bunFFI.FFIType;
