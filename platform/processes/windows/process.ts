// Starts programs on Windows, which cannot replace a process. Instead rt starts the program in its console with its standard
// handles, waits and exits as it did. If rt is ended, the program ends too.
//
// Non-obvious:
// - `Bun.spawnSync` cannot be used. The engine switch must be on in the first entry of its name and off in the last (see
//   `replace`). So rt must write the environment block itself.
// - Console signals reach the program directly; rt only has to survive them.
import type { ProcessOperations, ReplaceRequest } from "../contract/process.ts";
import { quoteForBatch, quoteForProgram } from "./command-line.ts";
import { environmentEntries, nameOf, originalEnvironment, originalVariable } from "./environment.ts";
import { addToJob, createJob } from "./job-object.ts";
import { address, kernel, wideString } from "../../native/windows/kernel32.ts";

const ENGINE_SWITCH = "BUN_BE_BUN";
/** Recognized by src/runtime/preload/internal-env-filter.ts. */
const SWITCHED_OFF = "off";
const INFINITE = 0xffffffff;

function buildEnvironment(changes: ReplaceRequest["environment"], engine: boolean): string {
  const changed = new Set(Object.keys(changes).map((name) => name.toUpperCase()));
  if (engine) changed.add(ENGINE_SWITCH);
  const entries = environmentEntries().filter((entry) => !changed.has(nameOf(entry)));
  for (const [name, value] of Object.entries(changes)) {
    if (value !== undefined) entries.push(`${name}=${value}`);
  }
  if (engine) {
    entries.unshift(`${ENGINE_SWITCH}=1`);
    entries.push(`${ENGINE_SWITCH}=${originalVariable(ENGINE_SWITCH) ?? SWITCHED_OFF}`);
  }
  return `${entries.join("\0")}\0`;
}

function buildCommandLine(
  program: string,
  argv: readonly string[],
): { program: string; line: string } | undefined {
  if (!/\.(?:cmd|bat)$/i.test(program)) return { program, line: quoteForProgram(argv) };
  const interpreter = originalVariable("ComSpec") ?? "C:\\Windows\\System32\\cmd.exe";
  const line = quoteForBatch(interpreter, program, argv.slice(1));
  return line === undefined ? undefined : { program: interpreter, line };
}

/** Sizes and offsets of the structures of CreateProcessW, on 64-bit systems. */
const STARTUP = { size: 104, flags: 60, handles: [80, 88, 96] } as const;
const PROCESS_INFORMATION_SIZE = 24;
const STARTF_USESTDHANDLES = 0x100;
const CREATE_SUSPENDED = 0x4;
const CREATE_UNICODE_ENVIRONMENT = 0x400;
const HANDLE_FLAG_INHERIT = 1;

/** Handle numbers of GetStdHandle: -10, -11, -12. */
const STANDARD = [-10, -11, -12].map((number) => number >>> 0);

function describeStart(): bigint {
  const startup = new DataView(new ArrayBuffer(STARTUP.size));
  startup.setUint32(0, STARTUP.size, true);
  startup.setUint32(STARTUP.flags, STARTF_USESTDHANDLES, true);
  for (const [index, number] of STANDARD.entries()) {
    const handle = BigInt(kernel().GetStdHandle(number));
    kernel().SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    startup.setBigUint64(STARTUP.handles[index]!, BigInt.asUintN(64, handle), true);
  }
  return address(new Uint8Array(startup.buffer));
}

/** Maps errors of CreateProcessW to error codes. */
const REFUSALS: Readonly<Record<number, string>> = {
  2: "ENOENT",
  3: "ENOENT",
  5: "EACCES",
  193: "ENOEXEC",
  206: "E2BIG",
  740: "EACCES",
};

const replace: ProcessOperations["replace"] = ({ program, argv, environment, engine = false, serve }) => {
  const command = buildCommandLine(program, argv);
  if (!command) return "a batch file cannot be given an argument with a line break";
  const information = new BigUint64Array(PROCESS_INFORMATION_SIZE / 8);
  process.on("SIGINT", () => {});
  const isStarted = kernel().CreateProcessW(
    wideString(command.program),
    wideString(command.line),
    0,
    0,
    1,
    CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT,
    wideString(buildEnvironment(environment, engine)),
    0,
    describeStart(),
    address(information),
  );
  if (!isStarted) {
    const code = kernel().GetLastError();
    return REFUSALS[code] ?? `error ${code}`;
  }
  const [handle, thread, numbers] = information as unknown as [bigint, bigint, bigint];
  // The job ends with this process; grandchildren may outlive both.
  addToJob(createJob(false), handle);
  kernel().ResumeThread(thread);
  serve?.(Number(BigInt.asUintN(32, numbers)));
  kernel().WaitForSingleObject(handle, INFINITE);
  const code = new Uint32Array(1);
  kernel().GetExitCodeProcess(handle, address(code));
  kernel().ExitProcess(code[0]!);
  throw new Error("This process has ended");
};

const exitBySignal: ProcessOperations["exitBySignal"] = (signal) =>
  128 + process.getBuiltinModule("node:os").constants.signals[signal];

const handledSignals: ProcessOperations["handledSignals"] = (signals) => [...signals];

const write: ProcessOperations["write"] = (descriptor, bytes) => {
  try {
    return process.getBuiltinModule("node:fs").writeSync(descriptor, bytes);
  } catch {
    return -1;
  }
};

const isTerminal: ProcessOperations["isTerminal"] = (descriptor) =>
  process.getBuiltinModule("node:tty").isatty(descriptor);

const inheritedDescriptors: ProcessOperations["inheritedDescriptors"] = () => [];

const FILE_TYPE_PIPE = 3;
const ERROR_BROKEN_PIPE = 109;
/** Poll interval in milliseconds: Windows cannot wait for the first byte of a pipe. */
const PEEK_INTERVAL = 2;

/** Fails on anything but a console, without effect. */
const dropInput: ProcessOperations["dropInput"] = () => {
  kernel().FlushConsoleInputBuffer(BigInt(kernel().GetStdHandle(STANDARD[0]!)));
};

const isInputEmpty: ProcessOperations["isInputEmpty"] = () => {
  const input = BigInt(kernel().GetStdHandle(STANDARD[0]!));
  if (kernel().GetFileType(input) !== FILE_TYPE_PIPE) {
    const { isFile, size } = statInput();
    return isFile && size === 0;
  }
  const available = new Uint32Array(1);
  for (;;) {
    if (!kernel().PeekNamedPipe(input, 0, 0, 0, address(available), 0))
      return kernel().GetLastError() === ERROR_BROKEN_PIPE;
    if (available[0]! > 0) return false;
    Bun.sleepSync(PEEK_INTERVAL);
  }
};

function statInput(): { isFile: boolean; size: number } {
  try {
    const stats = process.getBuiltinModule("node:fs").fstatSync(0);
    return { isFile: stats.isFile(), size: stats.size };
  } catch {
    return { isFile: false, size: 0 };
  }
}

const exactArguments: ProcessOperations["exactArguments"] = (args) => args;

const PATH_SEPARATOR = ";";

/** Prefers Git for Windows to PATH, and excludes the bash of Windows itself, which starts WSL. */
const findShell: ProcessOperations["findShell"] = (path) => {
  const { findGit } = require("./registry.ts") as typeof import("./registry.ts");
  const git = findGit();
  const entries = path
    .split(PATH_SEPARATOR)
    .filter((entry) => !/\\(?:System32|WindowsApps)\\?$/i.test(entry));
  return (
    (git && Bun.which(`${git}\\bin\\bash.exe`)) ??
    Bun.which("bash", { PATH: entries.join(PATH_SEPARATOR) }) ??
    undefined
  );
};

export const operations: ProcessOperations = {
  descriptorLimit: () => Number.POSITIVE_INFINITY,
  replace,
  originalEnvironment,
  originalVariable,
  exitBySignal,
  handledSignals,
  restoreDefaultActions: () => {}, // console events reach the listeners while there are any
  write,
  isTerminal,
  inheritedDescriptors,
  isInputEmpty,
  dropInput,
  exactArguments,
  replaysStarts: false,
  defaultShell: "rt",
  findShell,
  shellHint: "install Git for Windows, whose bash is used, or leave out --shell system",
  // The engine requires a path with a directory.
  noFile: "\\\\.\\NUL",
  pathSeparator: PATH_SEPARATOR,
  system: `${process.platform} ${process.arch}`,
};
