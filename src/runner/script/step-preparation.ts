// Prepares a step (the script or a lifecycle hook, `pre<script>` or `post<script>`): its command, environment and
// shell. Used for a single script (launch.ts) and for many (../task-run/multi-script.ts).
import { host } from "../../../platform/processes/process.ts";
import { UserError } from "../../user-error.ts";
import { findPackageJson, type LocatedPackage, scriptOf } from "../../workspace/package-json.ts";
import { portVariables } from "../../config/settings/port.ts";
import { type ScriptSettings, SILENCE } from "../../config/settings/script.ts";
import { VERSION } from "../../version.ts";
import { findRecursion, programEnvironment, scriptEnvironment } from "./environment.ts";
import { openShell, type Shell, type ShellCommand } from "./shell.ts";
import { directoriesFor, openPathShims, type PathShims } from "./path-shims.ts";

export interface PreparedStep {
  readonly event: string;
  /** As shown to the user and passed to the shell. */
  readonly command: string;
  readonly shell: ShellCommand;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Shared by all steps of a run; a workspace has hundreds of them. */
export interface RunContext {
  readonly settings: ScriptSettings;
  /** Variables from options in front of the script. */
  readonly variables: Readonly<Record<string, string>>;
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Inherited descriptors from 3 up, if rt has opened others since. */
  readonly descriptors: readonly number[] | undefined;
  readonly initialDirectory: string;
  readonly userAgent: string;
  readonly shell: Shell;
  /** Created on demand. */
  readonly shims: PathShims;
  /** Variables of --env-file files, which scripts get with any value; read on demand. */
  readonly named: readonly string[];
}

export function openRun(settings: ScriptSettings): RunContext {
  // Listed before, because reading the files leaves a socket open for some time.
  const descriptors = settings.envFiles.length > 0 ? host.inheritedDescriptors() : undefined;
  const variables = variablesOf(settings);
  // PATH is read by name, because its case may differ on Windows.
  const inherited = { ...host.originalEnvironment(), PATH: host.originalVariable("PATH"), ...variables };
  const path = inherited.PATH ?? "";
  const initialDirectory = process.cwd();
  let shims: PathShims | undefined;
  let named: readonly string[] | undefined;
  return {
    settings,
    variables,
    inherited,
    descriptors,
    initialDirectory,
    userAgent: `rt/${VERSION} npm/? node/${process.version} ${host.system}`,
    shell: openShell({ choice: settings.shell, inherited, initialDirectory }),
    get shims() {
      return (shims ??= openPathShims(settings.forceRuntime, path));
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
  if (cycle) throw new UserError(`Script recursion: ${cycle.join(" -> ")}`);
  if (command.includes("\0"))
    throw new UserError(`The script "${event}" contains a NUL character, which is not possible in a command`);
  const environment = scriptEnvironment({
    ...contextOf(context, command),
    package: located,
    directory,
    event,
    command: scriptOf(manifest, event) ?? command,
    running,
  });
  const shell = context.shell.start(command, directory, environment.PATH!);
  if (!shell) {
    throw new UserError("No shell found to run the script", host.shellHint);
  }
  return { event, command, shell, environment: { ...variables, ...environment } };
}

/** The environment of a binary or command in the working directory. @param mentioned its name and its #! line */
export function prepareProgram(context: RunContext, mentioned: string): Record<string, string> {
  const { variables, initialDirectory } = context;
  const environment = programEnvironment({
    ...contextOf(context, mentioned),
    package: findReadablePackage(initialDirectory),
    directory: initialDirectory,
  });
  return { ...variables, ...environment };
}

/** Values that do not depend on the package. @param command may mention programs that have shims */
function contextOf({ inherited, initialDirectory, userAgent, shims }: RunContext, command: string) {
  return {
    initialDirectory,
    path: inherited.PATH ?? "",
    pathSeparator: host.pathSeparator,
    shimDirectories: directoriesFor(shims, command),
    runtime: { path: process.execPath, userAgent },
    nodePath: shims.nodePath,
  };
}

/** An unreadable package.json does not prevent a program from starting. */
function findReadablePackage(directory: string): LocatedPackage | null {
  try {
    return findPackageJson(directory);
  } catch {
    return null;
  }
}
