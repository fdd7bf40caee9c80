// Restores the engine's original executable from rt's own file, as input for `bun build --compile`.
//
// Non-obvious: the engine would copy its own file and replace the program in it. That works only in its own file layout. The
// Linux file of rt is compacted (build/executable/elf-compaction.ts) and ends with the edits that undo the compaction.

import { OWN_PROGRAM } from "./running-executable.ts";

/** Marks the edits at the end of rt's file. */
export const ENGINE_MARK = "\nrt:engine=";

/** Edits that restore the engine's file up to the mark: a range to omit, then 8-byte words to write. */
export interface EngineEdits {
  readonly from: number;
  readonly to: number;
  readonly edits: ReadonlyArray<readonly number[]>;
}

/** Target names that mean this operating system and processor. */
const OWN_TARGETS = new RegExp(
  `^(bun|node|${process.platform}|${process.arch}|modern|v${Bun.version}|[,-])*$`,
);

export interface EngineFile {
  /** Valid in this process and after exec; if the file is kept, in every process. */
  readonly path: string;
  close(): void;
}

/**
 * Returns undefined if the engine can use its own file: on other systems than Linux, and for targets that it downloads.
 *
 * @throws PrivateDirectoryError
 */
export function openEngineFile(targets: readonly string[], isKept: boolean): EngineFile | undefined {
  if (process.platform !== "linux") return undefined;
  if (!OWN_TARGETS.test(targets.join())) return undefined;
  const { closeSync, openSync, readFileSync, unlinkSync } = process.getBuiltinModule("node:fs");
  const engine = restoreEngine(readFileSync(OWN_PROGRAM));
  const { writePrivateFile } =
    require("../files/private-file.ts") as typeof import("../files/private-file.ts");
  // A unique name, so that another rt or thread cannot remove it (race).
  const path = writePrivateFile(isKept ? "engine" : `engine-${Bun.randomUUIDv7()}`, "elf", engine);
  if (isKept) return { path, close() {} };
  const descriptor = openSync(path, "r");
  unlinkSync(path);
  return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) };
}

/** @param file rt's own */
export function restoreEngine(file: Buffer): Buffer {
  const end = file.lastIndexOf(ENGINE_MARK);
  const { from, to, edits } = JSON.parse(file.toString("latin1", end + ENGINE_MARK.length)) as EngineEdits;
  const engine = Buffer.concat([file.subarray(0, from), file.subarray(to, end)]);
  for (const [place, ...words] of edits)
    engine.set(new Uint8Array(new BigUint64Array(words.map(BigInt)).buffer), place);
  return engine;
}
