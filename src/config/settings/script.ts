// Reads the settings for running scripts, binaries and system commands.
import { host } from "../../../platform/processes/process.ts";
import type { ShellChoice } from "../../../platform/processes/contract/process.ts";
import type { Given, GivenOptions } from "../../options/parse.ts";

export interface ScriptSettings {
  /** Hides the command and its exit status. */
  readonly silent: boolean;
  readonly shell: ShellChoice;
  /** `node` means rt. */
  readonly forceRuntime: boolean;
  /** Files of --env-file, in command-line order. */
  readonly envFiles: readonly string[];
  /** Port of --port, for PORT and BUN_PORT. The port in rtfig.toml applies to code only. */
  readonly port?: string | undefined;
  /** Disables redaction. */
  readonly showsSecrets: boolean;
  /** Options of the engine, such as "--smol", which have no effect on scripts. */
  readonly idle: readonly string[];
}

/** The variable by which npm and rt pass --silent to an npm or rt that a script starts. */
export const SILENCE = { npm_config_loglevel: "silent" } as const;

function isSilenced(): boolean {
  return host.originalVariable("npm_config_loglevel") === SILENCE.npm_config_loglevel;
}

/** Settings without options. */
export const PLAIN_SCRIPT: ScriptSettings = {
  silent: isSilenced(),
  shell: host.defaultShell,
  forceRuntime: false,
  envFiles: [],
  showsSecrets: false,
  idle: [],
};

export function readScriptSettings(options: readonly Given[], given: GivenOptions): ScriptSettings {
  const idle = options.filter(({ option, isConfigured }) => option.by === "engine" && !isConfigured);
  return {
    silent: given.has("silent") || isSilenced(),
    shell: (given.get("shell")?.last as ShellChoice | undefined) ?? host.defaultShell,
    forceRuntime: given.has("rt"),
    envFiles: given.get("env-file")?.all ?? [],
    port: given.get("port")?.isOnLine ? given.get("port")!.last : undefined,
    showsSecrets: given.has("no-redact"),
    idle: [...new Set(idle.map(({ option }) => `--${option.name}`))],
  };
}
