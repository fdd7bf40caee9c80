// Reads the settings of a run from the command line, the working directory that it names, and the rtfig.toml there.
//
// Non-obvious: --cwd is applied first, so that every relative path is relative to the new directory.
import { errorCode } from "../../../platform/caught-error.ts";
import { files } from "../../../platform/files/files.ts";
import { forbidReplay } from "../../../platform/files/lookup-recorder.ts";
import { host } from "../../../platform/processes/process.ts";
import { FILE_NAME, mentionsInConfig, ROOT_SETTINGS } from "../config-file-name.ts";
import type { Config, ConfiguredOption } from "../rtfig.ts";
import type { TaskRules } from "../tasks/task-rules.ts";
import { UserError } from "../../user-error.ts";
import { COMMANDS, INSTALL_TOOLS, RESTRICTING_OPTIONS } from "../../options/commands.ts";
import {
  collectOptions,
  type GivenOptions,
  type Invocation,
  withoutOverridden,
} from "../../options/parse.ts";
import { readSettings, readSingleSettings, type RunSettings } from "./settings.ts";
import type { Tool, ToolLine } from "./tool.ts";

export interface OpenedSettings {
  readonly settings: RunSettings;
  readonly config: Config | undefined;
  /** Absolute path of the working directory, after --cwd. */
  readonly cwd: string;
  /** Reads the same command line again, with the current files. @throws UserError */
  reopen(): Promise<OpenedSettings>;
}

/** @throws UserError */
export async function openSettings(written: Invocation): Promise<OpenedSettings> {
  // The working directory is already set when the settings are read again.
  const withoutCwd = { ...written, options: written.options.filter(({ option }) => option.name !== "cwd") };
  return { ...(await open(written)), reopen: () => openSettings(withoutCwd) };
}

async function open(written: Invocation): Promise<Omit<OpenedSettings, "reopen">> {
  const line = await parseLine(written);
  const { invocation, tool } = line;
  const cwd = changeDirectory(lastOf("cwd", invocation));
  const { config, options } = await openConfig(line.config ?? lastOf("config", invocation));
  // The options of the file precede those of the user.
  const all = [...withoutOverridden(options, invocation.options), ...invocation.options];
  const configured = tool ? invocation : { ...invocation, options: all };
  const given = collectOptions(configured.options);
  const environment = { RT_CONCURRENCY: host.originalVariable("RT_CONCURRENCY") || undefined };
  const settings = readSettings(configured, given, environment);
  if (!tool) {
    const root = await findRoot(config, cwd);
    const tasks = root && (await findTasks(root, cwd));
    const permissions = await findPermissions(root, given);
    // An observed task has to run, and here. A check is satisfied by an earlier one.
    const isObserved = permissions?.observation !== undefined;
    const mayRecall = !isObserved || permissions?.observation === "check";
    const cache = mayRecall ? root && (await findCache(root, given, cwd, tasks)) : undefined;
    const remote = isObserved ? undefined : await findRemote(config, given, cwd, tasks);
    const single =
      tasks || permissions ? readSingleSettings(settings, configured, given, environment) : undefined;
    return { settings: { ...settings, cache, remote, tasks, permissions, single }, config, cwd };
  }
  const { withPreloads } = await import("./tool.ts");
  const read = { ...settings, tool: withPreloads(tool, config) };
  if (INSTALL_TOOLS.includes(tool.name) || (await installsTemplate(tool, cwd))) {
    const installScripts = await findInstallScripts(config, given, cwd);
    return { settings: { ...read, installScripts }, config, cwd };
  }
  return { settings: { ...read, permissions: await findPermissions(undefined, given) }, config, cwd };
}

type ParsedLine = Pick<ToolLine, "invocation" | "config"> & Partial<Pick<ToolLine, "tool">>;

async function parseLine(invocation: Invocation): Promise<ParsedLine> {
  const { command } = invocation;
  if (command === undefined || COMMANDS[command]!.by !== "engine") return { invocation };
  return (await import("./tool.ts")).readToolLine(invocation);
}

function lastOf(name: string, { options }: Invocation): string | undefined {
  for (let index = options.length - 1; index >= 0; index -= 1)
    if (options[index]!.option.name === name) return options[index]!.value;
  return undefined;
}

interface OpenedConfig {
  readonly config?: Config;
  readonly options: readonly ConfiguredOption[];
}

async function openConfig(path: string | undefined): Promise<OpenedConfig> {
  // A relative name works even if a parent of the working directory is not accessible.
  if (path === undefined && files.readFile(FILE_NAME, 1) === "ENOENT") return { options: [] };
  const { optionsOf, readConfig } = await import("../rtfig.ts");
  const config = readConfig(path ?? FILE_NAME);
  return { config, options: optionsOf(config) };
}

/** Returns undefined if no configuration file contains settings of cached scripts or tasks. @throws UserError */
async function findRoot(config: Config | undefined, cwd: string): Promise<Config | undefined> {
  if (!mentionsInConfig(cwd, ...ROOT_SETTINGS) && !(config && config.file !== FILE_NAME)) return undefined;
  return (await import("../root-config.ts")).findRootConfig(config, cwd);
}

/** @throws UserError */
async function findCache(root: Config, given: GivenOptions, cwd: string, tasks: TaskRules | undefined) {
  if (!root.text.includes("cache")) return undefined;
  const settings = (await import("./cache.ts")).readCacheSettings(root, given, cwd, tasks);
  if (settings?.isVerified && !(await canTrace()))
    throw new UserError(
      "--verify-inputs cannot trace scripts on this system",
      "use it on Linux 5.9 or later",
    );
  return settings;
}

/** Returns undefined if the root project has no [tasks]. @throws UserError */
async function findTasks(root: Config, cwd: string) {
  if (root.content.tasks === undefined) return undefined;
  return (await import("../tasks/task-rules.ts")).readTaskRules(root, cwd);
}

/** Returns undefined if no task has permissions. @throws UserError */
async function findPermissions(root: Config | undefined, given: GivenOptions) {
  const isGiven = RESTRICTING_OPTIONS.some((name) => given.has(name));
  if (!isGiven && !root?.text.includes("permissions")) return undefined;
  return (await import("./permissions.ts")).readPermissionSettings(root, given);
}

async function installsTemplate({ name, words }: Tool, cwd: string): Promise<boolean> {
  return name === "create" && (await import("./create-template.ts")).copiesTemplate(words, cwd);
}

/** @throws UserError */
async function findInstallScripts(config: Config | undefined, given: GivenOptions, cwd: string) {
  const { findRootConfig } = await import("../root-config.ts");
  const { readInstallScripts } = await import("./install-scripts.ts");
  return readInstallScripts(
    findRootConfig(config, cwd, () => {}),
    given,
  );
}

async function canTrace(): Promise<boolean> {
  const { hasTracing } = await import("../../../platform/tracing/tracing.ts");
  return hasTracing();
}

/** Returns undefined if neither the command line nor the file configures remote execution. @throws UserError */
async function findRemote(
  config: Config | undefined,
  given: GivenOptions,
  cwd: string,
  tasks: TaskRules | undefined,
) {
  if (!given.has("remote") && !config?.content.run?.remote) return undefined;
  forbidReplay(); // the server has a part in where a script runs
  const { readRemoteSettings } = await import("./remote.ts");
  return readRemoteSettings(config, given, cwd, tasks);
}

function changeDirectory(directory: string | undefined): string {
  if (directory === undefined) return process.cwd();
  try {
    process.chdir(directory);
  } catch (error) {
    const isDenied = errorCode(error) === "EACCES";
    const hint = isDenied ? "permission denied" : "--cwd needs a directory that exists";
    throw new UserError(`Cannot work in "${directory}"`, hint);
  }
  return process.cwd();
}
