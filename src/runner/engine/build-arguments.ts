// What `rt build` is told beside the user's own words.
//
// A bundle leaves the module "rt" to the rt that will run it. A compiled program is made of the engine, which has no such
// module: the engine gets the runtime for it, and the file that it is to put the program into (see src/runtime/compiled/compiled-program.ts).
import { prepareProgram } from "../../runtime/compiled/compiled-program.ts";

const EXECUTABLE = "--compile-executable-path";
const OPTIONS = "--compile-exec-argv";
const EXTERNAL = "--external=rt";

export function addBuildWords(words: readonly string[]): readonly string[] {
  const targets: readonly string[] = words.join("=").match(/(?<=--target=)[^=]*/g) ?? [];
  // For the browser it is a page that is compiled.
  if (!words.includes("--compile") || targets.includes("browser")) return [EXTERNAL, ...words];
  const isOthers = words.some((word) => word.split("=")[0] === EXECUTABLE);
  // With --watch the engine starts itself anew for each change.
  const { options: given, engine } = prepareProgram(targets, isOthers, words.includes("--watch"));
  const [options, others] = splitOptions(words);
  const ours = [EXTERNAL, `${OPTIONS}=${[...given, ...options].join(" ")}`];
  return engine ? [...ours, `${EXECUTABLE}=${engine.path}`, ...others] : [...ours, ...others];
}

/** The last list of options that are to be compiled in, which is the one that counts, and the words without any. */
function splitOptions(words: readonly string[]): [options: string[], others: string[]] {
  let options: string[] = [];
  const others: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!;
    if (word.startsWith(`${OPTIONS}=`)) options = [word.slice(OPTIONS.length + 1)];
    else if (word === OPTIONS && index + 1 < words.length) options = [words[(index += 1)]!];
    else others.push(word);
  }
  return [options, others];
}
