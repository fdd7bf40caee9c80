// `rt build --compile`: names the file that the engine is to put the program into, which is rt without its own program.
import { openEngineFile } from "../../platform/engine-file.ts";

const OPTION = "--compile-executable-path";

/** @param words those of `rt build` */
export function nameCompileBase(words: readonly string[]): readonly string[] {
  const isNamed = words.some((word) => word.split("=")[0] === OPTION);
  if (isNamed || !words.includes("--compile")) return words;
  const targets = words.join("=").match(/(?<=--target=)[^=]*/g) ?? [];
  // With --watch the engine starts itself anew for each change.
  const path = openEngineFile(targets, words.includes("--watch"));
  return path === undefined ? words : [`${OPTION}=${path}`, ...words];
}
