// Becomes the engine itself: this same file, started so that it takes the engine's command line instead of
// running our code. Our globals go along as a preload in a `data:` URL (a file would have to be written
// somewhere, and the engine cannot read our embedded files in this role).
//
// Surprising: the configuration file is always named where one is read, because the engine would otherwise read
// a bunfig.toml of the working directory, which is another program's configuration.
import { host } from "../../../platform/processes/process.ts";
import type { ReplaceRequest } from "../../../platform/processes/contract/process.ts";
import { MANIFEST_CACHE } from "../../runtime/modules/manifest-cache.ts";
import { portVariables } from "../../config/settings/port.ts";
import type { Supply } from "../script/launch.ts";
import { variablesOf } from "../script/secret-variables.ts";
import type { Debugging } from "./debugger.ts";
import { optionPreloadFor, preloadFor } from "./preload.ts";
import { REPLACED_PID_VARIABLE, SUPERVISED } from "./internal-variables.ts";

/** Where no configuration is to be read. */
const NO_FILE = host.noFile;

const SUBCOMMANDS = ["run", "test"];

/** Tools that read a configuration and take the option that names one. */
const CONFIGURED =
  " run test install i add a remove rm update outdated audit dedupe prune link unlink publish patch pm info why build ";

/** What is ours stands behind a subcommand, if there is one. */
function engineArguments(
  argv: readonly string[],
  runsCode: boolean,
  config = NO_FILE,
  isHelped = false,
  debugged?: Debugging,
): string[] {
  const words = debugged?.words ?? argv;
  const ours = runsCode ? [`--preload=${debugged?.preload ?? preloadFor(words)}`] : [];
  if (runsCode && isHelped) ours.push(`--preload=${optionPreloadFor(words)}`);
  if (debugged?.last !== undefined) ours.push(`--preload=${debugged.last}`);
  const isTool = !runsCode || SUBCOMMANDS.includes(argv[0] ?? "");
  if (!isTool || CONFIGURED.includes(` ${argv[0]} `)) ours.unshift(`--config=${config}`);
  return isTool ? [words[0]!, ...ours, ...words.slice(1)] : [...ours, ...words];
}

/** Where an option or an editor asks for a debugger; without them nothing of it is loaded. */
function asDebugged(argv: readonly string[]): Debugging | undefined {
  const isEdited = host.originalVariable("VSCODE_INSPECTOR_OPTIONS") !== undefined;
  if (!isEdited && !argv.some((word) => word.startsWith("--inspect"))) return undefined;
  return (require("./debugger.ts") as typeof import("./debugger.ts")).orderDebugger(argv);
}

export interface EngineSettings {
  /** What to be called. */
  readonly name?: string;
  /** The configuration file, absolute. */
  readonly config?: string | undefined;
  /** Where the configuration has to be given to the engine. */
  readonly serve?: ((pid: number) => void) | undefined;
  /** PATH, where it is to be another. */
  readonly path?: string;
  /** Whether an option needs src/runtime/preload/option-effects.ts. */
  readonly isHelped?: boolean;
  readonly asksRegistry?: boolean;
  /** It sends tokens that a person has allowed for certain addresses. */
  readonly sendsTokens?: boolean;
  /** That of --port. */
  readonly port?: string | undefined;
  readonly supply?: Supply | undefined;
}

/** The engine would take what follows for a package if it were called bunx; its command `x` is there already. */
function ownName(): string {
  return process.argv0.endsWith("bunx") ? "rt" : process.argv0;
}

/** @param runsCode whether code of the user's runs, which is to see `rt` */
export function becomeEngine(
  argv: readonly string[],
  runsCode: boolean,
  settings: EngineSettings = {},
): never {
  const code = host.replace(engineCommand(argv, runsCode, settings));
  throw new Error(`Cannot start the engine: ${code}`);
}

/** What says through whom a request goes, each with its other spelling, and whether who answers has to be who was asked. */
const WAY_VARIABLES = [
  ["HTTP_PROXY", "http_proxy"],
  ["http_proxy", "HTTP_PROXY"],
  ["HTTPS_PROXY", "https_proxy"],
  ["https_proxy", "HTTPS_PROXY"],
  ["NODE_TLS_REJECT_UNAUTHORIZED"],
] as const;

/** The engine takes from `.env` what it is not given: with these a project's files would say who gets to see a token. */
function waysToRegistries(): Record<string, string> {
  const valueOf = (names: readonly string[]) =>
    names.map((name) => host.originalVariable(name)).find((value) => value);
  return Object.fromEntries(WAY_VARIABLES.map((names) => [names[0], valueOf(names) ?? ""]));
}

/** How the engine is started. */
export function engineCommand(
  argv: readonly string[],
  runsCode: boolean,
  {
    name = ownName(),
    config,
    serve,
    path,
    isHelped,
    asksRegistry,
    sendsTokens,
    port,
    supply,
  }: EngineSettings,
): ReplaceRequest {
  const { pid } = process;
  const isLost = host.originalVariable(REPLACED_PID_VARIABLE) === `${pid}`;
  const debugged = runsCode && !isLost ? asDebugged(argv) : undefined;
  const words = isLost
    ? host.exactArguments(process.argv.slice(2))
    : engineArguments(argv, runsCode, config, isHelped, debugged);
  return {
    program: process.execPath,
    argv: [name, ...words],
    environment: {
      [SUPERVISED]: undefined,
      [REPLACED_PID_VARIABLE]: `${pid}`,
      ...(path === undefined ? {} : { PATH: path }),
      // The scripts of packages have no use for a key to secrets.
      ...(runsCode ? {} : { RT_AGE_KEY: undefined }),
      ...debugged?.environment,
      ...(asksRegistry ? { [MANIFEST_CACHE]: "0" } : {}),
      ...(sendsTokens ? waysToRegistries() : {}),
      ...portVariables(port),
      ...variablesOf(supply?.secretsFor() ?? []),
    },
    ...(supply?.descriptors && { descriptors: supply.descriptors }),
    engine: true,
    isSwitchOpen: isLost,
    serve,
  };
}
