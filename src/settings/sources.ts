// Where settings come from: the command line, the directory that it names to work in, and the rtfig.toml there.
//
// Surprising: --cwd takes effect here, before anything is read, so that every relative path means the same from then on.
import { files } from "../../platform/files.ts";
import { host } from "../../platform/process.ts";
import { FILE_NAME, mentionsInConfig } from "../config/file.ts";
import type { Config } from "../config/rtfig.ts";
import { Failure } from "../failure.ts";
import { collectOptions, type Given, type Invocation } from "../options/parse.ts";
import type { CacheSettings } from "./cache.ts";
import { readSettings, type Settings } from "./settings.ts";

export interface Opened {
  readonly settings: Settings;
  readonly config: Config | undefined;
  /** The working directory from here on, absolute. */
  readonly cwd: string;
}

/** A tool of the engine reads rtfig.toml by itself; its own words may name it. */
export interface ToolWords {
  readonly config: string | undefined;
}

/** Throws Failure. */
export async function openSettings(invocation: Invocation, tool?: ToolWords): Promise<Opened> {
  const given = collectOptions(invocation.options);
  const cwd = changeDirectory(given.get("cwd")?.last);
  const config = await openConfig(tool?.config ?? given.get("config")?.last);
  const options = config && !tool ? await optionsIn(config) : [];
  // As if the user had written the file's options in front of the others.
  const configured = { ...invocation, options: [...options, ...invocation.options] };
  const environment = { RT_CONCURRENCY: host.originalVariable("RT_CONCURRENCY") };
  const cache = tool ? undefined : await findCache(config, configured, cwd);
  return { settings: { ...readSettings(configured, environment), cache }, config, cwd };
}

async function openConfig(path: string | undefined): Promise<Config | undefined> {
  // By its name alone: a working directory below one that may not be entered can still be read that way.
  if (path === undefined && files.readFile(FILE_NAME, 1) === "ENOENT") return undefined;
  const { readConfig } = await import("../config/rtfig.ts");
  return readConfig(path ?? FILE_NAME);
}

async function optionsIn(config: Config): Promise<Given[]> {
  const { optionsOf } = await import("../config/rtfig.ts");
  return optionsOf(config);
}

async function findCache(
  config: Config | undefined,
  { options }: Invocation,
  cwd: string,
): Promise<CacheSettings | undefined> {
  if (!mentionsInConfig(cwd, "cache") && !(config && config.file !== FILE_NAME)) return undefined;
  const { findCacheConfig, readCacheSettings } = await import("./cache.ts");
  const found = findCacheConfig(config, cwd);
  const settings = found && readCacheSettings(found, collectOptions(options), cwd);
  if (settings?.isVerified && !(await canTrace()))
    throw new Failure("--verify-inputs cannot see here what a script reads", "try it on Linux, from 5.9 on");
  return settings;
}

async function canTrace(): Promise<boolean> {
  const { findTracing } = await import("../../platform/tracing.ts");
  return (await findTracing()) !== undefined;
}

function changeDirectory(directory: string | undefined): string {
  if (directory === undefined) return process.cwd();
  try {
    process.chdir(directory);
  } catch (error) {
    const isDenied = (error as NodeJS.ErrnoException).code === "EACCES";
    const hint = isDenied ? "permission denied" : "--cwd needs a directory that exists";
    throw new Failure(`Cannot work in "${directory}"`, hint);
  }
  return process.cwd();
}
