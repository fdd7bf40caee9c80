// One script of a package made ready to start: its command, its environment, and the program that runs it.
//
// A script is up to three steps (pre-hook, script, post-hook). Steps are prepared the same way whether the
// script runs alone (launch.ts) or among many (many.ts).
import { host } from "../../platform/process.ts";
import { type LocatedPackage, scriptOf } from "../workspace/package-json.ts";
import { findRecursion, scriptEnvironment } from "./environment.ts";
import { RunFailure } from "./run-failure.ts";
import { type ShellChoice, type ShellCommand, shellCommand } from "./shell.ts";
import { standInDirectories } from "./stand-in.ts";

export interface RunSettings {
  readonly silent: boolean;
  readonly shell: ShellChoice;
  /** `node` means rt. */
  readonly forceRuntime: boolean;
  readonly version: string;
}

export interface Step {
  readonly event: string;
  /** As the user sees it, and as the shell reads it. */
  readonly command: string;
  readonly shell: ShellCommand;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** @param command of `event`, with the arguments appended */
export function prepareStep(
  located: LocatedPackage,
  event: string,
  command: string,
  { shell: choice, forceRuntime, version }: RunSettings,
): Step {
  const { directory, manifest } = located;
  const running = process.env.RT_SCRIPTS ?? "";
  const cycle = findRecursion(running, directory, event);
  if (cycle) throw new RunFailure(`The script "${event}" calls itself without end: ${cycle.join(" -> ")}`);
  const inheritedPath = process.env.PATH ?? "";
  const stands = standInDirectories(forceRuntime, inheritedPath, command);
  const environment = scriptEnvironment({
    package: located,
    event,
    command: scriptOf(manifest, event) ?? command,
    initialDirectory: process.cwd(),
    path: inheritedPath,
    pathSeparator: host.pathSeparator,
    stands,
    runtime: {
      path: process.execPath,
      userAgent: `rt/${version} npm/? node/${process.version} ${host.system}`,
    },
    nodePath:
      Bun.which("node", { PATH: [...stands, inheritedPath].join(host.pathSeparator) }) ?? process.execPath,
    running,
  });
  const shell = shellCommand(command, {
    choice,
    path: environment.PATH!,
    directory,
    inherited: process.env,
    runtimePath: process.execPath,
  });
  if (!shell) {
    throw new RunFailure("No shell was found to run the script in", "install bash or sh, or use --shell rt");
  }
  return { event, command, shell, environment };
}
