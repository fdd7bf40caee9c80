// Provides the modules of lazy-modules.ts to a process started as the engine, which cannot access the executable's embedded
// files. It reads compressed scripts from the executable itself, where the build stores them between two marks.
//
// Non-obvious:
// - The scripts for the other systems and for compiled programs (compiled-program.ts) are in the same block. They share most of
//   their text, so the block is only half as large again as one script.
// - The block is read when `secrets` or `CSRF` is first used (1 ms). It is not part of the preload, because every kilobyte of a
//   `data:` URL slows each start.
import { OWN_PROGRAM, OWN_SYSTEM, type System } from "../../../platform/processes/running-executable.ts";
import { createParts } from "./evaluated-modules.ts";

/** Joined at run time, so that the executable contains each mark only once. */
export const BEGIN = ["/*rt:parts", "begin*/"].join(":");
export const END = ["/*rt:parts", "end*/"].join(":");

/** Sizes in bytes of the searched end of the file. The scripts are near the end, but a code signature may follow. */
const WINDOWS = [4 << 20, 32 << 20, Number.POSITIVE_INFINITY];

export interface EmbeddedSources {
  /** lazy-modules.ts, for each system. */
  readonly parts: Readonly<Record<System, string>>;
  /** compiled-program-preload.ts. */
  readonly program: string;
  /** deferred-modules.ts, for programs. */
  readonly late: string;
}

export function packScripts({ parts, program, late }: EmbeddedSources): Uint8Array {
  const text = [parts.linux, parts.darwin, parts.win32, program, late].join("\0");
  return Buffer.concat([Buffer.from(BEGIN), Bun.zstdCompressSync(text, { level: 19 }), Buffer.from(END)]);
}

/** Extracts the scripts from an executable or its end. Returns undefined if a mark is missing. */
export function unpackScripts(bytes: Buffer): EmbeddedSources | undefined {
  const begin = bytes.indexOf(BEGIN);
  const end = bytes.indexOf(END, begin);
  if (begin < 0 || end < 0) return undefined;
  const text = Bun.zstdDecompressSync(bytes.subarray(begin + BEGIN.length, end)).toString();
  const [linux, darwin, win32, program, late] = text.split("\0") as [string, string, string, string, string];
  return { parts: { linux, darwin, win32 }, program, late };
}

export function readScripts(): EmbeddedSources {
  const { closeSync, fstatSync, openSync, readSync } = process.getBuiltinModule("node:fs");
  const file = openSync(OWN_PROGRAM, "r");
  try {
    const { size } = fstatSync(file);
    for (const window of WINDOWS) {
      const length = Math.min(window, size);
      const bytes = Buffer.allocUnsafe(length);
      readSync(file, bytes, 0, length, size - length);
      const scripts = unpackScripts(bytes);
      if (scripts !== undefined) return scripts;
    }
  } finally {
    closeSync(file);
  }
  throw new Error(`${process.execPath} is damaged: its runtime is missing; download it again`);
}

export const PARTS = createParts(() => readScripts().parts[OWN_SYSTEM]);
