// What a program that `rt build --compile` or Bun.build() makes is given, so that it has `rt`: a preload as one `data:` URL
// among the options that are compiled into it, for the system that it is made for, and an option that has what the program
// may need later.
//
// Contract: these options are all there is. Nothing else is added to the program or written for it, its own modules keep their
// names, and its threads load the same preload.
//
// Surprising: this rt carries the parts of every system that rt is made for (see embedded-modules.ts). They stand compressed in
// an option that the engine looks at once. As a part of the URL they took a third of the instructions that rt adds to the
// start of a program, since a URL is gone through many times. The preload is not compressed with them, since to unpack both
// took more than half of it.
import { type EngineFile, openEngineFile } from "../../../platform/processes/engine-file.ts";
import { OWN_SYSTEM, type System } from "../../../platform/processes/running-executable.ts";
import { readScripts } from "../modules/embedded-modules.ts";
import { PROGRAM_URL_START, SCRIPTS_OPTION, SCRIPTS_SEPARATOR } from "../preload/preload-url.ts";

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
  /** To be compiled in, in front of the user's own; without a space. */
  readonly options: readonly string[];
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
  const { program, late, parts } = readScripts();
  const packed = [parts[systemOf(targets)], late].map((script) =>
    Bun.zstdCompressSync(script, { level: 19 }).toString("base64url"),
  );
  const boot = `(0, eval)(${JSON.stringify(program)})({}, 0, { exports: {} }, 0, import.meta)`;
  const engine = isOthers ? undefined : openEngineFile(targets, isKept);
  return {
    options: [
      `--preload=${PROGRAM_URL_START};base64,${btoa(boot)}`,
      `${SCRIPTS_OPTION}${packed.join(SCRIPTS_SEPARATOR)}`,
    ],
    engine,
  };
}
