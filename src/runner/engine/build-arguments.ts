// Adds rt's arguments to `rt build`: the module "rt" stays external, and a compiled program gets the runtime and
// the engine's executable (src/runtime/compiled/compiled-program.ts).
import { prepareProgram } from "../../runtime/compiled/compiled-program.ts";

const EXECUTABLE = "--compile-executable-path";
const OPTIONS = "--compile-exec-argv";
const EXTERNAL = "--external=rt";

export function addBuildWords(words: readonly string[]): readonly string[] {
  const targets: readonly string[] = words.join("=").match(/(?<=--target=)[^=]*/g) ?? [];
  // For the browser, --compile compiles a page.
  if (!words.includes("--compile") || targets.includes("browser")) return [EXTERNAL, ...words];
  const isOthers = words.some((word) => word.split("=")[0] === EXECUTABLE);
  // With --watch the engine restarts itself for each change.
  const { options: given, engine } = prepareProgram(targets, isOthers, words.includes("--watch"));
  const [options, others] = splitOptions(words);
  const ours = [EXTERNAL, `${OPTIONS}=${[...given, ...options].join(" ")}`];
  return engine ? [...ours, `${EXECUTABLE}=${engine.path}`, ...others] : [...ours, ...others];
}

/** Splits off the last list of options to compile in, which is the one that counts. */
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
