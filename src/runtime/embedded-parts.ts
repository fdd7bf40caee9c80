// The same parts, for a process that was started as the engine: it cannot see the files embedded in this
// program, but it can read the program itself, where the build has put the script of parts.ts, compressed,
// between two marks.
//
// Surprising: this is read when `secrets` or `CSRF` is first touched (1 ms), not handed over at the start,
// because every kilobyte of a `data:` URL costs the start of every program that is run this way.
import { OWN_PROGRAM } from "../../platform/own-program.ts";
import { evaluate } from "./script.ts";
import type { Parts } from "./parts.ts";

/** Put together here, so that neither mark stands anywhere but around the script. */
export const BEGIN = ["/*rt:parts", "begin*/"].join(":");
export const END = ["/*rt:parts", "end*/"].join(":");

/** Where the script is looked for, from the end of the file: it is near it, but for what signing appends. */
const WINDOWS = [4 << 20, 32 << 20, Number.POSITIVE_INFINITY];

let parts: Parts | undefined;

function loadParts(): Parts {
  parts ??= evaluate<{ PARTS: Parts }>(readScript()).PARTS;
  return parts;
}

/** The script in the bytes of a program, or of its end; undefined when it is not there as a whole. */
export function unpackParts(bytes: Buffer): string | undefined {
  const begin = bytes.indexOf(BEGIN);
  const end = bytes.indexOf(END, begin);
  if (begin < 0 || end < 0) return undefined;
  return Bun.zstdDecompressSync(bytes.subarray(begin + BEGIN.length, end)).toString();
}

function readScript(): string {
  const { closeSync, fstatSync, openSync, readSync } = process.getBuiltinModule("node:fs");
  const file = openSync(OWN_PROGRAM, "r");
  try {
    const { size } = fstatSync(file);
    for (const window of WINDOWS) {
      const length = Math.min(window, size);
      const bytes = Buffer.allocUnsafe(length);
      readSync(file, bytes, 0, length, size - length);
      const script = unpackParts(bytes);
      if (script !== undefined) return script;
    }
  } finally {
    closeSync(file);
  }
  throw new Error(`${process.execPath} is damaged: its own runtime is not in it; download it again`);
}

export const PARTS: Parts = {
  loadSecrets: async () => await loadParts().loadSecrets(),
  loadCSRF: () => loadParts().loadCSRF(),
  loadEngineFile: () => loadParts().loadEngineFile(),
};
