// The engine's foreign functions without the module `bun:ffi` around them, which takes 0.2 ms to load: as long as
// everything else that stands between a package's script and its program.
//
// Surprising: the module checks and converts what is passed, and this does not. A whole number for `i32` has to be one
// to the engine as well (a constant, an index, what a function or an Int32Array gave), and a library that cannot be
// opened is an answer, not an exception.
import type * as bunFFI from "bun:ffi";

type Native = Pick<typeof bunFFI, "dlopen" | "ptr" | "read"> & {
  readonly CString: (pointer: bunFFI.Pointer, offset?: number, length?: number) => string;
};

/** Not a part of the engine's documented interface; another version may have it under the module alone. */
const { FFI } = Bun as unknown as { FFI: Native };

export const { ptr, read } = FFI;

export const dlopen: typeof bunFFI.dlopen = (path, symbols) => {
  const library = FFI.dlopen(path, symbols);
  if (library instanceof Error) throw library;
  return library;
};

/** The text up to the NUL byte, or of so many bytes, one at least. */
export const readCString = FFI.CString;

/** The numbers that bun:ffi knows its types by. */
export const FFIType = {
  i32: 5,
  u32: 6,
  i64: 7,
  u64: 8,
  ptr: 12,
  i64_fast: 15,
} as unknown as typeof bunFFI.FFIType;
