// What a program that `rt build --compile` or Bun.build() makes is given, so that it has `rt`: a preload as one `data:` URL
// among the options that are compiled into it, for the system that it is made for.
//
// Contract: the URL is all there is. Nothing else is added to the program or written for it, its own modules keep their
// names, and its threads load the same URL.
//
// Surprising: this rt carries the parts of every system that rt is made for (see embedded-parts.ts). The scripts stand
// compressed in a parameter of the URL, not in its source, where they would be encoded twice: on Windows a whole command
// line has 32767 characters.
import { type EngineFile, openEngineFile } from "../../platform/engine-file.ts";
import { OWN_SYSTEM, type System } from "../../platform/own-program.ts";
import { readScripts } from "./embedded-parts.ts";
import { PROGRAM_URL_START } from "./preload-mark.ts";

/**
 * Evaluates program-preload.ts with the script of the parts, which it keeps until one is touched. On Windows the path has
 * other slashes than the URL.
 */
const BOOT = `const { path } = import.meta;
const packed = path.slice(path.indexOf(";rt=") + 4, path.indexOf(";base64,"));
const [preload, parts] = Bun.zstdDecompressSync(Buffer.from(packed, "base64url")).toString().split("\\0");
(0, eval)(preload)({}, 0, { exports: {} }, parts, import.meta);`;

/** What makes the system of a target's name. */
const SYSTEMS: readonly (readonly [RegExp, System])[] = [
  [/windows|win32/, "win32"],
  [/darwin|macos/, "darwin"],
  [/linux/, "linux"],
];

function systemOf(targets: readonly string[]): System {
  const name = targets.join();
  return SYSTEMS.find(([pattern]) => pattern.test(name))?.[1] ?? OWN_SYSTEM;
}

export interface ProgramMaterial {
  /** To be compiled in, in front of the user's own. */
  readonly option: string;
  /** What the program is to be put into, where the engine cannot find it by itself. */
  readonly engine: EngineFile | undefined;
}

/**
 * @param isOthers whether the user has named the file that the program is put into
 * @param isKept see openEngineFile()
 */
export function prepareProgram(
  targets: readonly string[],
  isOthers: boolean,
  isKept: boolean,
): ProgramMaterial {
  const { program, parts } = readScripts();
  const packed = Bun.zstdCompressSync(`${program}\0${parts[systemOf(targets)]}`, { level: 19 });
  const url = `${PROGRAM_URL_START}${packed.toString("base64url")};base64,${btoa(BOOT)}`;
  const engine = isOthers ? undefined : openEngineFile(targets, isKept);
  return { option: `--preload=${url}`, engine };
}
