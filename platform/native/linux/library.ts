// The library in C that answers the kernel (recorder/), opened from memory: no file is written, and nobody can put another one in
// its place. Where the system has no such files the error has `code` EACCES.
import type { Pointer } from "bun:ffi";
import { dlopen, FFIType, ptr } from "../posix/ffi.ts";
import { closeDescriptor } from "../posix/pipe.ts";
import { openMemory } from "./memory-program.ts";

const { i32, ptr: pointer } = FFIType;

const SYMBOLS = {
  answer_only: { args: [i32], returns: i32 },
  start_recorder: { args: [pointer, pointer], returns: i32 },
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

/** The address of numbers that stay where they are: over a buffer of their own. */
export function placeOf(numbers: Int32Array): Pointer {
  return ptr(numbers);
}
