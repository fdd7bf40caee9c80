// Creates the options that `rt build --compile` and Bun.build() embed in a program: a preload and an option with scripts. The
// preload is a `data:` URL; the scripts are compressed and specific to the target system.
//
// Invariants:
// - Only these options are added. The program's modules keep their names, and its threads load the same preload.
// Non-obvious:
// - This rt contains the modules of every supported system (see embedded-modules.ts).
// - The scripts are not in the URL, which the engine scans many times. There they took a third of rt's start instructions.
//   Compressing the preload as well would cost more than half of these.
import { type EngineFile, openEngineFile } from "../../../platform/processes/engine-file.ts";
import { OWN_SYSTEM, type System } from "../../../platform/processes/running-executable.ts";
import { readScripts } from "../modules/embedded-modules.ts";
import { PROGRAM_URL_START, SCRIPTS_OPTION, SCRIPTS_SEPARATOR } from "../preload/preload-url.ts";

/** Patterns that map a build target's name to its system. */
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
  /** Options to embed before the user's; they contain no spaces. */
  readonly options: readonly string[];
  /** The stock engine's file, if the engine cannot find it itself. */
  readonly engine: EngineFile | undefined;
}

/**
 * @param hasExecutablePath whether the user specified the engine's file
 * @param isKept see openEngineFile()
 */
export function prepareProgram(
  targets: readonly string[],
  hasExecutablePath: boolean,
  isKept: boolean,
): ProgramMaterial {
  const { program, late, parts } = readScripts();
  const packed = [parts[systemOf(targets)], late].map((script) =>
    Bun.zstdCompressSync(script, { level: 19 }).toString("base64url"),
  );
  const boot = `(0, eval)(${JSON.stringify(program)})({}, 0, { exports: {} }, 0, import.meta)`;
  const engine = hasExecutablePath ? undefined : openEngineFile(targets, isKept);
  return {
    options: [
      `--preload=${PROGRAM_URL_START};base64,${btoa(boot)}`,
      `${SCRIPTS_OPTION}${packed.join(SCRIPTS_SEPARATOR)}`,
    ],
    engine,
  };
}
