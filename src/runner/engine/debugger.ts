// Configures the engine for --inspect or an editor: its own debugger gets a private socket, and a preload serves
// debugger clients (src/debugger/domains).
//
// Non-obvious: the engine uses the last --inspect option. The user's option stays in front, so that the program
// finds it in process.execArgv.
import { program, thread } from "rt:debugger";
import {
  ensurePrivateFile,
  privateSocketPath,
  writePrivateFile,
} from "../../../platform/files/private-file.ts";
import { host } from "../../../platform/processes/process.ts";
import { readAddress } from "../../debugger/server/address.ts";
import { type EditorOptions, readEditorOptions, wantsProgram } from "../../debugger/editor/editor.ts";
import { PRELOAD_URL_START } from "../../runtime/preload/preload-url.ts";
import {
  READY_SYMBOL,
  EDITOR_VARIABLE,
  LAUNCH_VARIABLE,
  type DebuggerLaunchConfig,
  PORT_VARIABLE,
} from "../../debugger/launch-config.ts";

/** Engine settings of a debugged program. If the user sets a variable of a group, rt sets none of the group. */
const ENGINE_SETTINGS: readonly Readonly<Record<string, string>>[] = [
  // No concurrent compilation of hot functions. A breakpoint set during compilation would abort the program (SIGABRT, "but we are
  // our own replacement"). That happens in one of eight attempts in a loop that has just become hot. No FTL compiler either,
  // because the program would wait for it. TypeScript's compiler runs as fast without both.
  { BUN_JSC_useConcurrentJIT: "0", BUN_JSC_useFTLJIT: "0" },
  // No tail calls: a callee would replace its caller's frame. A step over `return call()` would stop in the callee, and the call
  // stack would lack the caller.
  { BUN_JSC_useTailCalls: "0" },
];

const SUBCOMMANDS = ["run", "test"];
/** Module that delays the program until a client is ready. */
const WAIT = `// @bun\nawait globalThis[Symbol.for("${READY_SYMBOL}")];\n`;
const WORD = /^--inspect(-wait|-brk)?(?:=(.*))?$/;

export interface Debugging {
  /** The program's, with what the engine needs. */
  readonly words: readonly string[];
  /** The module that the engine loads instead of the runtime, and that contains the runtime. */
  readonly preload: string;
  readonly last?: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Options that are followed by code. */
const TAKES_CODE = ["-e", "--eval", "-p", "--print"];

/** @returns undefined without a debugger, or with an invalid address, which the engine reports */
export function orderDebugger(argv: readonly string[]): Debugging | undefined {
  const first = SUBCOMMANDS.includes(argv[0]!) ? 1 : 0;
  const { at, script: file } = scan(argv, first);
  const [, kind, value = ""] = at === undefined ? [] : WORD.exec(argv[at]!)!;
  const asked = at === undefined ? undefined : readAddress(value);
  // A child process listens at a free port and does not wait: no client could know the port in advance.
  const isChild = asked !== undefined && `${asked.port}` === host.originalVariable(PORT_VARIABLE);
  const address = isChild ? { ...asked, port: 0 } : asked;
  if (at !== undefined && !address) return undefined;
  const editor = editorOf(file, address !== undefined);
  if (!address && !editor) return undefined;
  const socket = privateSocketPath(`debug-${process.pid}-${crypto.randomUUID().slice(0, 8)}`);
  if (socket === undefined) return undefined;
  const isWaiting = (kind !== undefined && !isChild) || editor !== undefined;
  const preload = ensurePrivateFile(program, () => texts().program);
  const last = isWaiting ? writePrivateFile("debugger", "js", WAIT) : undefined;
  const word = `--inspect=ws+unix://${socket}`;
  const settings: Record<string, string> = {};
  for (const group of ENGINE_SETTINGS)
    if (Object.keys(group).every((name) => host.originalVariable(name) === undefined))
      Object.assign(settings, group);
  const order: DebuggerLaunchConfig = {
    ...(address && { address }),
    ...(editor && { editor }),
    socket,
    isRestart: argv.includes("--watch"),
    added: [word, `--preload=${preload}`, `--preload=${last}`],
    substitute: `--preload=${PRELOAD_URL_START}`,
    engineVariables: Object.keys(settings),
    thread: ensurePrivateFile(thread, () => texts().thread),
    isWaiting,
    stopsAtFirst: kind === "-brk" && !isChild,
  };
  return {
    words: argv.toSpliced(at === undefined ? first : at + 1, 0, word),
    preload,
    ...(last === undefined ? {} : { last }),
    environment: { [LAUNCH_VARIABLE]: JSON.stringify(order), ...settings },
  };
}

/** Whether an editor waits for a file that would run in this process. */
export function isAwaited(file: string): boolean {
  return editorOf(file, false) !== undefined;
}

/** Reads the environment that rt was started with, not .env files. */
function editorOf(file: string | undefined, isAsked: boolean): EditorOptions | undefined {
  const options = readEditorOptions(host.originalVariable(EDITOR_VARIABLE));
  if (!options) return undefined;
  const path = file === undefined ? undefined : process.getBuiltinModule("node:path").resolve(file);
  return wantsProgram(options, path, isAsked) ? options : undefined;
}

/** Finds the last inspect option before the program, and the program. */
function scan(
  argv: readonly string[],
  begin: number,
): { at: number | undefined; script: string | undefined } {
  let at: number | undefined;
  let script: string | undefined;
  for (let index = begin; index < argv.length && argv[index] !== "--"; index += 1) {
    const word = argv[index]!;
    if (WORD.test(word)) at = index;
    else if (!word.startsWith("-") || word === "-") {
      script ??= word === "-" ? undefined : word;
      // Options of the test runner may follow its files.
      if (argv[0] !== "test") break;
    }
    if (TAKES_CODE.includes(word)) index += 1;
  }
  return { at, script };
}

const texts = () => require("./debugger-bundle.ts") as typeof import("./debugger-bundle.ts");
