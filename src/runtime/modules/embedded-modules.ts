// The same parts, for a process that was started as the engine: it cannot see the files embedded in this
// program, but it can read the program itself, where the build has put the script of lazy-modules.ts, compressed,
// between two marks.
//
// With it stand the same for the other systems, and what else a program is given that is made with rt: see compiled-program.ts.
// The scripts have so much in common that this is half as large again as one of them.
//
// Surprising: this is read when `secrets` or `CSRF` is first touched (1 ms), not handed over at the start,
// because every kilobyte of a `data:` URL costs the start of every program that is run this way.
import { OWN_PROGRAM, OWN_SYSTEM, type System } from "../../../platform/processes/running-executable.ts";
import { createParts } from "./evaluated-modules.ts";

/** Put together here, so that neither mark stands anywhere but around the scripts. */
export const BEGIN = ["/*rt:parts", "begin*/"].join(":");
export const END = ["/*rt:parts", "end*/"].join(":");

/** Where the scripts are looked for, from the end of the file: they are near it, but for what signing appends. */
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

/** The scripts in the bytes of a program, or of its end; undefined when they are not there as a whole. */
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
  throw new Error(`${process.execPath} is damaged: its own runtime is not in it; download it again`);
}

export const PARTS = createParts(() => readScripts().parts[OWN_SYSTEM]);
