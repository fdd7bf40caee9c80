// Where settings come from: the command line, the directory that it names to work in, and the rtfig.toml there.
//
// Surprising: --cwd takes effect here, before anything is read, so that every relative path means the same from then on.
import { errorCode } from "../../../platform/caught-error.ts";
import { files } from "../../../platform/files/files.ts";
import { host } from "../../../platform/processes/process.ts";
import { FILE_NAME, mentionsInConfig } from "../config-file-name.ts";
import type { Config, ConfiguredOption } from "../rtfig.ts";
import { UserError } from "../../user-error.ts";
import { COMMANDS } from "../../options/commands.ts";
import {
  collectOptions,
  type GivenOptions,
  type Invocation,
  withoutOverridden,
} from "../../options/parse.ts";
import { readSettings, type RunSettings } from "./settings.ts";
import type { ToolLine } from "./tool.ts";

export interface Opened {
  readonly settings: RunSettings;
  readonly config: Config | undefined;
  /** The working directory from here on, absolute. */
  readonly cwd: string;
  /** The same line, with what its files say by then. Throws Failure. */
  reopen(): Promise<Opened>;
}

/** Throws Failure. */
export async function openSettings(written: Invocation): Promise<Opened> {
  // By then it works there already.
  const again = { ...written, options: written.options.filter(({ option }) => option.name !== "cwd") };
  return { ...(await open(written)), reopen: () => openSettings(again) };
}

async function open(written: Invocation): Promise<Omit<Opened, "reopen">> {
  const line = await lineOf(written);
  const { invocation, tool } = line;
  const cwd = changeDirectory(lastOf("cwd", invocation));
  const { config, options } = await openConfig(line.config ?? lastOf("config", invocation));
  // As if the user had written the file's options in front of the others.
  const all = [...withoutOverridden(options, invocation.options), ...invocation.options];
  const configured = tool ? invocation : { ...invocation, options: all };
  const given = collectOptions(configured.options);
  const environment = { RT_CONCURRENCY: host.originalVariable("RT_CONCURRENCY") || undefined };
  const settings = readSettings(configured, given, environment);
  if (!tool) {
    const cache = await findCache(config, given, cwd);
    const remote = await findRemote(config, given, cwd);
    return { settings: { ...settings, cache, remote }, config, cwd };
  }
  const { withPreloads } = await import("./tool.ts");
  return { settings: { ...settings, tool: withPreloads(tool, config) }, config, cwd };
}

type ParsedLine = Pick<ToolLine, "invocation" | "config"> & Partial<Pick<ToolLine, "tool">>;

async function lineOf(invocation: Invocation): Promise<ParsedLine> {
  const { command } = invocation;
  if (command === undefined || COMMANDS[command]!.by !== "engine") return { invocation };
  return (await import("./tool.ts")).readToolLine(invocation);
}

/** What the last of an option's kind says on the command line. */
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
  // By its name alone: a working directory below one that may not be entered can still be read that way.
  if (path === undefined && files.readFile(FILE_NAME, 1) === "ENOENT") return { options: [] };
  const { optionsOf, readConfig } = await import("../rtfig.ts");
  const config = readConfig(path ?? FILE_NAME);
  return { config, options: optionsOf(config) };
}

/** Where the project's file speaks of caching. Throws Failure. */
async function findCache(config: Config | undefined, given: GivenOptions, cwd: string) {
  if (!mentionsInConfig(cwd, "cache") && !(config && config.file !== FILE_NAME)) return undefined;
  const { findCacheConfig, readCacheSettings } = await import("./cache.ts");
  const found = findCacheConfig(config, cwd);
  const settings = found && readCacheSettings(found, given, cwd);
  if (settings?.isVerified && !(await canTrace()))
    throw new UserError(
      "--verify-inputs cannot see here what a script reads",
      "try it on Linux, from 5.9 on",
    );
  return settings;
}

async function canTrace(): Promise<boolean> {
  const { findTracing } = await import("../../../platform/tracing/tracing.ts");
  return (await findTracing()) !== undefined;
}

/** Where the command line or the file sends scripts to other machines. Throws Failure. */
async function findRemote(config: Config | undefined, given: GivenOptions, cwd: string) {
  const isMentioned = config?.settings.some(({ path }) => path[0] === "run" && path[1] === "remote");
  if (!given.has("remote") && !isMentioned) return undefined;
  const { readRemoteSettings } = await import("./remote.ts");
  return readRemoteSettings(config, given, cwd);
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
