// Which scripts are not run again when nothing has changed, and what was declared of them: [run.cache] of rtfig.toml. And
// where what they did is looked for and kept: --cache.
import { dirname, resolve } from "node:path";
import { host } from "../../platform/process.ts";
import type { Config } from "../config/rtfig.ts";
import { Failure } from "../failure.ts";
import type { GivenOptions } from "../options/parse.ts";
import { printable } from "../printable.ts";
import { readRemoteCache, type RemoteCacheSettings } from "./remote-cache.ts";

/** What the file says of one script; globs are relative to its package. */
export interface CacheRule {
  /** `build`, of whichever package, or `web#build`. */
  readonly name: string;
  /** False where the file takes it out. */
  readonly isOn: boolean;
  /** Variables that the script is given, beside those that every cached script is. */
  readonly env: readonly string[];
  /** Files that count besides what is seen. */
  readonly inputs: readonly string[];
  /** Files that are the script's, whatever was there before. */
  readonly outputs: readonly string[];
  /** Files that do not matter. */
  readonly ignore: readonly string[];
}

export interface CacheSettings {
  /** The directory of rtfig.toml: nothing outside is written. Absolute. */
  readonly root: string;
  readonly rules: readonly CacheRule[];
  /** Of the store on this machine. */
  readonly isRead: boolean;
  readonly isWritten: boolean;
  /** What is shared with others. */
  readonly remote?: RemoteCacheSettings | undefined;
}

const LISTS = ["env", "inputs", "outputs", "ignore"] as const;

/** Undefined where nothing is cached. Throws Failure. */
export function readCacheSettings(
  config: Config,
  given: GivenOptions,
  cwd: string,
): CacheSettings | undefined {
  if (given.has("no-cache")) return undefined;
  const { settings, file } = config;
  const rules = new Map<string, CacheRule>();
  for (const { path, value } of settings) {
    const [section, part, name, list] = path;
    if (section !== "run" || part !== "cache" || name === undefined) continue;
    const rule = rules.get(name) ?? { name, isOn: true, env: [], inputs: [], outputs: [], ignore: [] };
    const known = LISTS.find((each) => each === list);
    rules.set(name, known ? { ...rule, [known]: value as string[] } : { ...rule, isOn: value === true });
  }
  const { local, remote } = readPlaces(given.get("cache")?.last ?? host.originalVariable("TURBO_CACHE"));
  const isForced = given.has("force");
  const accessOf = (access: string) => ({
    isRead: access.includes("r") && !isForced,
    isWritten: access.includes("w"),
  });
  return {
    root: dirname(resolve(cwd, file)),
    rules: [...rules.values()],
    ...accessOf(local),
    remote: readRemoteCache(config, accessOf(remote), (name) => host.originalVariable(name)),
  };
}

const EVERYWHERE = "local:rw,remote:rw";

/** As turbo reads it: a place that is not mentioned is not used. Throws Failure. */
function readPlaces(text: string = EVERYWHERE): { local: string; remote: string } {
  const places = { local: "", remote: "" };
  for (const each of text.split(",")) {
    const [, place, access] = /^(local|remote):(r|w|rw|)$/.exec(each) ?? [];
    if (place === undefined)
      throw new Failure(
        `--cache cannot be "${printable(text)}"`,
        `say local, remote or both, and r, w or rw, as in --cache=${EVERYWHERE}`,
      );
    places[place as keyof typeof places] = access!;
  }
  return places;
}

/** The rule of a package's own wins. Undefined for a script that is not cached. */
export function ruleFor(
  { rules }: CacheSettings,
  packageName: string,
  scriptName: string,
): CacheRule | undefined {
  const rule =
    rules.find(({ name }) => name === `${packageName}#${scriptName}`) ??
    rules.find(({ name }) => name === scriptName);
  return rule?.isOn ? rule : undefined;
}
