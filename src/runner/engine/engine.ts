// Replaces the process by the engine: the same executable, started so that it parses the engine's command line. The
// runtime is a preload in a `data:` URL, because the engine cannot read embedded files in this role.
//
// Non-obvious: --config is always passed to tools that read a configuration. Otherwise the engine would read a
// bunfig.toml of the working directory.
import { host } from "../../../platform/processes/process.ts";
import type { ReplaceRequest } from "../../../platform/processes/contract/process.ts";
import { MANIFEST_CACHE } from "../../runtime/modules/manifest-cache.ts";
import { portVariables } from "../../config/settings/port.ts";
import type { Supply } from "../script/launch.ts";
import { printable } from "../../printable.ts";
import { UserError } from "../../user-error.ts";
import { WITHHELD_BY_INSTALL } from "../../secrets/grants/grants.ts";
import { variablesOf, withoutVariables } from "../script/secret-variables.ts";
import type { Debugging } from "./debugger.ts";
import { optionPreloadFor, preloadFor } from "./preload.ts";
import { REPLACED_PID_VARIABLE, SUPERVISED } from "./internal-variables.ts";

/** Passed as configuration file when none may be read. */
const NO_FILE = host.noFile;

const SUBCOMMANDS = ["run", "test"];

/** Tools that accept --config. */
const CONFIGURED =
  " run test install i add a remove rm update outdated audit dedupe prune link unlink publish patch pm info why build ";

/** Inserts rt's arguments, after the subcommand if there is one. */
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

/** Loads debugging support only if an option or an editor requests it. */
function asDebugged(argv: readonly string[]): Debugging | undefined {
  const isEdited = host.originalVariable("VSCODE_INSPECTOR_OPTIONS") !== undefined;
  if (!isEdited && !argv.some((word) => word.startsWith("--inspect"))) return undefined;
  return (require("./debugger.ts") as typeof import("./debugger.ts")).orderDebugger(argv);
}

export interface EngineSettings {
  readonly name?: string;
  /** Absolute path of the configuration file. */
  readonly config?: string | undefined;
  /** Serves the configuration to the engine, if it is an ephemeral file. */
  readonly serve?: ((pid: number) => void) | undefined;
  readonly path?: string;
  /** Whether an option needs src/runtime/preload/option-effects.ts. */
  readonly isHelped?: boolean;
  readonly asksRegistry?: boolean;
  /** Whether the engine gets registry tokens, which a person has allowed for certain addresses. */
  readonly sendsTokens?: boolean;
  /** Variables that the engine must not inherit. */
  readonly withheld?: readonly string[] | undefined;
  readonly port?: string | undefined;
  readonly supply?: Supply | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/**
 * The engine would interpret arguments as a package name if it were called bunx; its command `x` is in the
 * arguments already.
 */
function ownName(): string {
  return process.argv0.endsWith("bunx") ? "rt" : process.argv0;
}

/** @param runsCode whether user code runs, which may import `rt` */
export function becomeEngine(
  argv: readonly string[],
  runsCode: boolean,
  settings: EngineSettings = {},
): never {
  const code = host.replace(engineCommand(argv, runsCode, settings));
  throw describeStartError(code);
}

export function describeStartError(code: string): UserError {
  const hint = "make this file, and each directory above it, executable for this user";
  const message = `Cannot start the engine ${printable(process.execPath)}: ${code}`;
  return new UserError(message, code === "EACCES" ? hint : undefined);
}

/** Variables that select a proxy, each with its other spelling, or disable certificate verification. */
const WAY_VARIABLES = [
  ["HTTP_PROXY", "http_proxy"],
  ["http_proxy", "HTTP_PROXY"],
  ["HTTPS_PROXY", "https_proxy"],
  ["https_proxy", "HTTPS_PROXY"],
  ["NODE_TLS_REJECT_UNAUTHORIZED"],
] as const;

/**
 * Sets these variables explicitly, because the engine reads missing ones from .env: a project could redirect
 * requests with a token.
 */
function waysToRegistries(): Record<string, string> {
  const valueOf = (names: readonly string[]) =>
    names.map((name) => host.originalVariable(name)).find((value) => value);
  return Object.fromEntries(WAY_VARIABLES.map((names) => [names[0], valueOf(names) ?? ""]));
}

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
    withheld = [],
    port,
    supply,
    variables,
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
      // Lifecycle scripts of packages do not need the key to secrets.
      ...(runsCode ? {} : { RT_AGE_KEY: undefined }),
      ...withoutVariables(withheld, WITHHELD_BY_INSTALL),
      ...debugged?.environment,
      ...(asksRegistry ? { [MANIFEST_CACHE]: "0" } : {}),
      ...(sendsTokens ? waysToRegistries() : {}),
      ...portVariables(port),
      ...variables,
      ...variablesOf(supply?.secretsFor() ?? []),
    },
    ...(supply?.descriptors && { descriptors: supply.descriptors }),
    engine: true,
    isSwitchOpen: isLost,
    serve,
  };
}
