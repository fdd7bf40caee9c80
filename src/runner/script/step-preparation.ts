// One script of a package made ready to start: its command, its environment, and the program that runs it.
//
// A script is up to three steps (pre-hook, script, post-hook). Steps are prepared the same way whether the
// script runs alone (launch.ts) or among many (../many.ts).
import { host } from "../../../platform/processes/process.ts";
import { UserError } from "../../user-error.ts";
import { findPackageJson, type LocatedPackage, scriptOf } from "../../workspace/package-json.ts";
import { portVariables } from "../../config/settings/port.ts";
import { type ScriptSettings, SILENCE } from "../../config/settings/script.ts";
import { VERSION } from "../../version.ts";
import { findRecursion, programEnvironment, scriptEnvironment } from "./environment.ts";
import { openShell, type Shell, type ShellCommand } from "./shell.ts";
import { directoriesFor, openStandIns, type PathShims } from "./path-shims.ts";

export interface PreparedStep {
  readonly event: string;
  /** As the user sees it, and as the shell reads it. */
  readonly command: string;
  readonly shell: ShellCommand;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What all steps of a run share, found out once: a workspace has hundreds of them. */
export interface RunContext {
  readonly settings: ScriptSettings;
  /** What options in front of the script add to its environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Those from 3 up that rt was started with, where it has opened others since. */
  readonly descriptors: readonly number[] | undefined;
  readonly initialDirectory: string;
  readonly userAgent: string;
  readonly shell: Shell;
  /** Looked for when they are asked for. */
  readonly stands: PathShims;
  /** The variables that files of --env-file name, which are given to a script whatever their values; read when asked for. */
  readonly named: readonly string[];
}

export function openRun(settings: ScriptSettings): RunContext {
  // What reads the files leaves a socket behind, which goes at some later moment.
  const descriptors = settings.envFiles.length > 0 ? host.inheritedDescriptors() : undefined;
  const variables = variablesOf(settings);
  // Asked for by name: where case does not count, the name may be spelled otherwise.
  const inherited = { ...host.originalEnvironment(), PATH: host.originalVariable("PATH"), ...variables };
  const path = inherited.PATH ?? "";
  const initialDirectory = process.cwd();
  let stands: PathShims | undefined;
  let named: readonly string[] | undefined;
  return {
    settings,
    variables,
    inherited,
    descriptors,
    initialDirectory,
    userAgent: `rt/${VERSION} npm/? node/${process.version} ${host.system}`,
    shell: openShell({ choice: settings.shell, inherited, initialDirectory }),
    get stands() {
      return (stands ??= openStandIns(settings.forceRuntime, path));
    },
    get named() {
      if (settings.envFiles.length === 0) return [];
      const { namesInEnvFiles } = require("./env-files.ts") as typeof import("./env-files.ts");
      return (named ??= namesInEnvFiles(settings.envFiles));
    },
  };
}

function variablesOf({ port, envFiles, silent }: ScriptSettings): Record<string, string> {
  const variables: Record<string, string> = { ...(silent && SILENCE), ...portVariables(port) };
  if (envFiles.length === 0) return variables;
  const { readEnvFiles } = require("./env-files.ts") as typeof import("./env-files.ts");
  return { ...readEnvFiles(envFiles), ...variables };
}

/** @param command of `event`, with the arguments appended */
export function prepareStep(
  context: RunContext,
  located: LocatedPackage,
  event: string,
  command: string,
): PreparedStep {
  const { variables, inherited } = context;
  const { directory, manifest } = located;
  const running = inherited.RT_SCRIPTS ?? "";
  const cycle = findRecursion(running, directory, event);
  if (cycle) throw new UserError(`The script "${event}" calls itself without end: ${cycle.join(" -> ")}`);
  if (command.includes("\0"))
    throw new UserError(`The script "${event}" has a NUL character in it, which no program can be given`);
  const environment = scriptEnvironment({
    ...surroundingsOf(context, command),
    package: located,
    directory,
    event,
    command: scriptOf(manifest, event) ?? command,
    running,
  });
  const shell = context.shell.start(command, directory, environment.PATH!);
  if (!shell) {
    throw new UserError("No shell was found to run the script in", host.shellHint);
  }
  return { event, command, shell, environment: { ...variables, ...environment } };
}

/** The environment of a binary or command, which runs where the user stands. @param interpreter its #! line, or "" */
export function prepareProgram(context: RunContext, interpreter: string): Record<string, string> {
  const { variables, initialDirectory } = context;
  const environment = programEnvironment({
    ...surroundingsOf(context, interpreter),
    package: findReadablePackage(initialDirectory),
    directory: initialDirectory,
  });
  return { ...variables, ...environment };
}

/** What does not depend on the package. @param command what may mention a program that rt stands in for */
function surroundingsOf({ inherited, initialDirectory, userAgent, stands }: RunContext, command: string) {
  return {
    initialDirectory,
    path: inherited.PATH ?? "",
    pathSeparator: host.pathSeparator,
    stands: directoriesFor(stands, command),
    runtime: { path: process.execPath, userAgent },
    nodePath: stands.nodePath,
  };
}

/** One that cannot be read is no reason not to start a program. */
function findReadablePackage(directory: string): LocatedPackage | null {
  try {
    return findPackageJson(directory);
  } catch {
    return null;
  }
}
