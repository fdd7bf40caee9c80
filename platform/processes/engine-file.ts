// The engine's file in the shape that it had before our program was put into it, for the engine to put another program there.
//
// The engine would take its own file, and exchanges the program in it if it has the shape in which the engine leaves
// programs itself. Ours for Linux has been given another one (build/elf-compaction.ts), and ends with what it takes to undo that.

import { OWN_PROGRAM } from "./running-executable.ts";

/** In front of the last words of our file. */
export const ENGINE_MARK = "\nrt:engine=";

/** How to make the engine's file of ours, up to the mark: what to leave out, then which words of eight bytes to write where. */
export interface EngineEdits {
  readonly from: number;
  readonly to: number;
  readonly edits: ReadonlyArray<readonly number[]>;
}

/** What targets may be called that are the system and processor this program is for. */
const OWN_TARGETS = new RegExp(
  `^(bun|node|${process.platform}|${process.arch}|modern|v${Bun.version}|[,-])*$`,
);

export interface EngineFile {
  /** Leads to it from this process and from what replaces it or, where it is kept, from anywhere. */
  readonly path: string;
  close(): void;
}

/**
 * Undefined where the engine does better by itself: on other systems than Linux, and for targets whose engine it has to
 * fetch. Throws PrivateDirectoryError.
 */
export function openEngineFile(targets: readonly string[], isKept: boolean): EngineFile | undefined {
  if (process.platform !== "linux") return undefined;
  if (!OWN_TARGETS.test(targets.join())) return undefined;
  const { closeSync, openSync, readFileSync, unlinkSync } = process.getBuiltinModule("node:fs");
  const file = readFileSync(OWN_PROGRAM);
  const end = file.lastIndexOf(ENGINE_MARK);
  const { from, to, edits } = JSON.parse(file.toString("latin1", end + ENGINE_MARK.length)) as EngineEdits;
  const engine = Buffer.concat([file.subarray(0, from), file.subarray(to, end)]);
  for (const [place, ...words] of edits)
    engine.set(new Uint8Array(new BigUint64Array(words.map(BigInt)).buffer), place);
  const { writePrivateFile } =
    require("../files/private-file.ts") as typeof import("../files/private-file.ts");
  // Its own, so that it can be taken away while another rt, or another thread, does the same.
  const path = writePrivateFile(isKept ? "engine" : `engine-${Bun.randomUUIDv7()}`, "elf", engine);
  if (isKept) return { path, close() {} };
  const descriptor = openSync(path, "r");
  unlinkSync(path);
  return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) };
}
