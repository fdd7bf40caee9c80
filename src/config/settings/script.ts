// How scripts, binaries and commands of the system run.
import { host } from "../../../platform/processes/process.ts";
import type { ShellChoice } from "../../../platform/processes/contract/process.ts";
import type { Given, GivenOptions } from "../../options/parse.ts";

export interface ScriptSettings {
  /** Neither the command is shown nor how it ended. */
  readonly silent: boolean;
  readonly shell: ShellChoice;
  /** `node` means rt. */
  readonly forceRuntime: boolean;
  /** Files of --env-file, for the environment; in the order in which they were given. */
  readonly envFiles: readonly string[];
  /** The port of --port, for PORT and BUN_PORT. The port of rtfig.toml is for code only. */
  readonly port?: string | undefined;
  /** Values of secrets are not kept out of what is shown. */
  readonly showsSecrets: boolean;
  /** Options of the engine, as "--smol", which a program that is no code of rt's has no use for. */
  readonly idle: readonly string[];
}

/** What npm tells the scripts of `npm run --silent` by, and rt those of `rt --silent`: to any npm or rt that they start. */
export const SILENCE = { npm_config_loglevel: "silent" } as const;

function isSilenced(): boolean {
  return host.originalVariable("npm_config_loglevel") === SILENCE.npm_config_loglevel;
}

/** Without any option. */
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
