// Makes the front for Linux: the code of platform/native/linux/front, and the tables that it reads. The tables come from the
// TypeScript modules that make the same decisions.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { COMPILED, compiledName } from "../codegen/native-codegen.ts";
import type { BuildTarget } from "../targets.ts";
import { host } from "../../platform/processes/process.ts";
import { ENGINE_SWITCH, SWITCHED_OFF } from "../../platform/processes/posix/process.ts";
import { FILE_NAME, ROOT_SETTINGS } from "../../src/config/config-file-name.ts";
import { EDITOR_VARIABLE } from "../../src/debugger/launch-config.ts";
import { COMMANDS, RESTRICTING_OPTIONS } from "../../src/options/commands.ts";
import { engineSwitches } from "../../src/options/engine-flags.ts";
import { OPTIONS, type Option } from "../../src/options/options.ts";
import {
  ADOPTED_VARIABLE,
  REPLACED_PID_VARIABLE,
  SUPERVISED,
} from "../../src/runner/engine/internal-variables.ts";
import { MEMO_PLACES, START_VARIABLES } from "../../src/runner/fast-path/start-memo.ts";
import { PROJECT_FILES } from "../../src/config/cache-directory.ts";
import { SOURCE_EXTENSIONS } from "../../src/source-extensions.ts";
import { describeRevision, VERSION } from "../../src/version.ts";
import { PRODUCT } from "../product.ts";

/** The entry point and the address of `environ`, in 8 bytes each, then the offsets of the lists. */
const ENTRY = 0;
const ENVIRONMENT = 8;
const OFFSETS = 16;
/** Offsets have 4 bytes. */
const OFFSET_SIZE = 4;
const ALIGNMENT = 16;

function spellings({ name, short, other }: Option): string[] {
  return [`--${name}`, ...[short, other].flatMap((each) => (each === undefined ? [] : [`-${each}`]))];
}

function spellingsOf(name: string): string[] {
  return OPTIONS.filter((option) => option.name === name).flatMap(spellings);
}

/** By the rows of `enum list` in platform/native/linux/front/tables.h, in their order. */
export function frontLists(preload: string): Readonly<Record<string, readonly string[]>> {
  const test = "test";
  return {
    PROGRAM_NAME: [PRODUCT.command],
    RUN_COMMAND: Object.keys(COMMANDS).filter((name) => COMMANDS[name]!.by === "run"),
    TEST_COMMAND: Object.keys(COMMANDS).filter((name) => name === test),
    PRINTING_OPTIONS: [
      ...spellingsOf("version").flatMap((option) => [option, `${VERSION}\n`]),
      ...spellingsOf("revision").flatMap((option) => [option, `${describeRevision()}\n`]),
    ],
    ENGINE_SWITCHES: engineSwitches().trim().split(" "),
    CODE_OPTIONS: OPTIONS.filter(({ value }) => value?.isCode).flatMap((option) =>
      spellings(option).flatMap((word) => [word, option.forward!]),
    ),
    SOURCE_EXTENSIONS,
    DOUBTFUL_WORDS: ["--inspect"],
    DOUBTFUL_TEST_WORDS: ["--config", "--hot", ...RESTRICTING_OPTIONS.map((name) => `--${name}`)],
    DOUBTFUL_VARIABLES: [
      ...[
        ENGINE_SWITCH,
        REPLACED_PID_VARIABLE,
        ADOPTED_VARIABLE,
        SUPERVISED,
        EDITOR_VARIABLE,
        "RT_DEBUG",
        "BUN_OPTIONS",
      ].map((name) => `${name}=`),
      "BUN_INSPECT",
      "RT_FRONT=off",
    ],
    TEST_EVENT: [`npm_lifecycle_event=${test}`],
    MEMO_PLACES: MEMO_PLACES.flatMap(({ variable, below }) => [`${variable}=`, `${below}/`]),
    PROJECT_FILES,
    START_VARIABLES,
    CONFIG_FILE: [FILE_NAME],
    ROOT_SETTINGS,
    PROJECT_SETTINGS: ["tsconfig.json", "jsconfig.json"],
    CONFIG_WORD: [`--config=${host.noFile}`],
    PRELOAD_WORD: [`--preload=${preload}`],
    SWITCH_ON: [`${ENGINE_SWITCH}=1`],
    SWITCH_OFF: [`${ENGINE_SWITCH}=${SWITCHED_OFF}`],
    BECAME_VARIABLE: [`${REPLACED_PID_VARIABLE}=`],
    ADOPTED_VARIABLE: [`${ADOPTED_VARIABLE}=`],
  };
}

/** Returns `struct tables`, without addresses. @param launcher of scripts with permissions */
export function frontTables(preload: string, launcher: Uint8Array): Buffer {
  const lists = Object.entries(frontLists(preload));
  const head = Buffer.alloc(OFFSETS + OFFSET_SIZE * (lists.length + 2));
  const texts: Buffer[] = [];
  let end = head.length;
  for (const [index, [name, list]] of lists.entries()) {
    if (list.length === 0 || list.some((text) => text === "" || text.includes("\0")))
      throw new Error(`The front cannot hold the list ${name}`);
    head.writeUInt32LE(end, OFFSETS + OFFSET_SIZE * index);
    const bytes = Buffer.from(`${list.join("\0")}\0\0`);
    texts.push(bytes);
    end += bytes.length;
  }
  head.writeUInt32LE(end, OFFSETS + OFFSET_SIZE * lists.length);
  head.writeUInt32LE(launcher.length, OFFSETS + OFFSET_SIZE * (lists.length + 1));
  return Buffer.concat([head, ...texts, launcher]);
}

export interface Front {
  readonly size: number;
  /** @param entry the engine's entry point @param environment the address of its `environ` */
  bytesFor(entry: number, environment: number): Uint8Array;
}

/** @param preload the URL that the engine gets */
export async function frontFor({ arch }: BuildTarget, preload: string): Promise<Front> {
  const code = await readFile(join(COMPILED, compiledName("front", arch)));
  if (code.length % ALIGNMENT !== 0) throw new Error("The front's code is not as expected");
  const launcher = await readFile(join(COMPILED, compiledName("sandbox", arch)));
  const tables = frontTables(preload, launcher);
  return {
    size: code.length + tables.length,
    bytesFor(entry, environment) {
      tables.writeBigUInt64LE(BigInt(entry), ENTRY);
      tables.writeBigUInt64LE(BigInt(environment), ENVIRONMENT);
      return Buffer.concat([code, tables]);
    },
  };
}
