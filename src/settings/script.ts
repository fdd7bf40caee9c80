// How scripts, binaries and commands of the system run.
import { host } from "../../platform/process.ts";
import type { ShellChoice } from "../../platform/contract/process.ts";
import type { Given, GivenOptions } from "../options/parse.ts";

export interface ScriptSettings {
  /** Neither the command is shown nor how it ended. */
  readonly silent: boolean;
  readonly shell: ShellChoice;
  /** `node` means rt. */
  readonly forceRuntime: boolean;
  /** Files of --env-file, for the environment; in the order in which they were given. */
  readonly envFiles: readonly string[];
  /** PORT, for the environment. */
  readonly port?: string | undefined;
  /** Options of the engine, as "--smol", which a program that is no code of rt's has no use for. */
  readonly idle: readonly string[];
}

/** Without any option. */
export const PLAIN_SCRIPT: ScriptSettings = {
  silent: false,
  shell: host.defaultShell,
  forceRuntime: false,
  envFiles: [],
  idle: [],
};

export function readScriptSettings(options: readonly Given[], given: GivenOptions): ScriptSettings {
  const idle = options.filter(({ option, isConfigured }) => option.by === "engine" && !isConfigured);
  return {
    silent: given.has("silent"),
    shell: (given.get("shell")?.last as ShellChoice | undefined) ?? host.defaultShell,
    forceRuntime: given.has("rt"),
    envFiles: given.get("env-file")?.all ?? [],
    port: given.get("port")?.last,
    idle: [...new Set(idle.map(({ option }) => `--${option.name}`))],
  };
}
