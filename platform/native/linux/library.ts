// Loads the recorder library (recorder/) from a memfd: no file is written, so no other process can replace it. If the system
// forbids executable memfds, the error has `code` EACCES.
import type { Pointer } from "bun:ffi";
import { dlopen, FFIType, ptr } from "../posix/ffi.ts";
import { closeDescriptor } from "../posix/pipe.ts";
import { openMemory } from "./memory-program.ts";

const { i32, ptr: pointer } = FFIType;

const SYMBOLS = {
  continue_all_calls: { args: [i32], returns: i32 },
  open_shared_layer: { args: [pointer, pointer, i32], returns: i32 },
  start_recorder: { args: [pointer, pointer, pointer], returns: i32 },
} as const;

let opened: ReturnType<typeof dlopen<typeof SYMBOLS>>["symbols"] | undefined;

export function recorderLibrary(): NonNullable<typeof opened> {
  if (!opened) {
    const { path, descriptor } = openMemory("recorder");
    try {
      opened = dlopen(path, SYMBOLS).symbols;
    } catch {
      throw Object.assign(new Error("No library can be opened from memory"), { code: "EACCES" });
    } finally {
      closeDescriptor(descriptor);
    }
  }
  return opened;
}

/** Returns the address of an array that has its own ArrayBuffer, so the engine does not move it. */
export function addressOf(numbers: Int32Array): Pointer {
  return ptr(numbers);
}
