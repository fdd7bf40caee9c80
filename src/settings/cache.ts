// Which scripts are not run again when nothing has changed, and what was declared of them: [run.cache] of rtfig.toml.
import { dirname, resolve } from "node:path";
import type { Config } from "../config/rtfig.ts";
import type { GivenOptions } from "../options/parse.ts";

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
  readonly isRead: boolean;
  readonly isWritten: boolean;
}

const LISTS = ["env", "inputs", "outputs", "ignore"] as const;

/** Undefined where nothing is cached. */
export function readCacheSettings(
  { settings, file }: Config,
  given: GivenOptions,
  cwd: string,
): CacheSettings | undefined {
  if (given.has("no-cache")) return undefined;
  const rules = new Map<string, CacheRule>();
  for (const { path, value } of settings) {
    const [section, part, name, list] = path;
    if (section !== "run" || part !== "cache" || name === undefined) continue;
    const rule = rules.get(name) ?? { name, isOn: true, env: [], inputs: [], outputs: [], ignore: [] };
    const known = LISTS.find((each) => each === list);
    rules.set(name, known ? { ...rule, [known]: value as string[] } : { ...rule, isOn: value === true });
  }
  const mode = given.get("cache")?.last ?? "local:rw";
  const access = mode.slice(mode.indexOf(":") + 1);
  return {
    root: dirname(resolve(cwd, file)),
    rules: [...rules.values()],
    isRead: access.includes("r") && !given.has("force"),
    isWritten: access.includes("w"),
  };
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
