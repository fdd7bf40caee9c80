// What `rt build` is told beside the user's own words.
//
// A bundle that rt will run leaves the module "rt" to it. A compiled program is made of the engine alone, without rt, so
// that there is no such module in it: the engine gets the file that it is to put the program into.
import { openEngineFile } from "../../../platform/engine-file.ts";

const OPTION = "--compile-executable-path";

export function addBuildWords(words: readonly string[]): readonly string[] {
  const targets: readonly string[] = words.join("=").match(/(?<=--target=)[^=]*/g) ?? [];
  if (!words.includes("--compile")) return targets.includes("bun") ? ["--external=rt", ...words] : words;
  if (words.some((word) => word.split("=")[0] === OPTION)) return words;
  // With --watch the engine starts itself anew for each change.
  const engine = openEngineFile(targets, words.includes("--watch"));
  return engine ? [`${OPTION}=${engine.path}`, ...words] : words;
}
