// Which scripts are not run again when nothing has changed, and what was declared of them: [run.cache] of rtfig.toml. And
// where what they did is looked for and kept: --cache.
import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { files } from "../../../platform/files/files.ts";
import { host } from "../../../platform/processes/process.ts";
import { FILE_NAME } from "../config-file-name.ts";
import { findRoot } from "../root-project.ts";
import { type Config, readConfig } from "../rtfig.ts";
import { UserError } from "../../user-error.ts";
import type { GivenOptions } from "../../options/parse.ts";
import { printable } from "../../printable.ts";
import { readRemoteCache, type RemoteCacheSettings } from "./remote-cache.ts";
import { ruleNamed } from "./script-rules.ts";
import { reportLine } from "../../output.ts";

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
  /** Whether `outputs` was given, be it empty. */
  readonly saysOutputs: boolean;
  /** Whether what it does is followed where that can be. */
  readonly isTraced: boolean;
  /** Whether other checkouts of the project may use what it made. */
  readonly isShared: boolean;
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
  /** Whether a dry run asks the others as well: --cache says so. Without, who looks at a project sends its credentials nowhere. */
  readonly asksWhenDry: boolean;
  /** Whether scripts run, and are compared with what is declared of them. */
  readonly isVerified: boolean;
  /** Whether each script says why it runs, or does not. */
  readonly isExplained: boolean;
}

const LISTS = ["env", "inputs", "outputs", "ignore"] as const;
const SWITCHES = { shared: "isShared", trace: "isTraced" } as const;
const NOTHING = {
  ...{ isOn: true, isShared: true, isTraced: true, saysOutputs: false },
  ...{ env: [], inputs: [], outputs: [], ignore: [] },
} as const;

/**
 * What speaks of caching for a working directory: the file that --config names, or that of the root project, which a member's
 * own is not, as with secrets. Throws Failure.
 */
export function findCacheConfig(config: Config | undefined, cwd: string): Config | undefined {
  if (config && config.file !== FILE_NAME) return config;
  const root = findRootOrNone(cwd);
  if (root === undefined) return undefined;
  const file = join(root, FILE_NAME);
  if (root === realpathSync(cwd)) return config;
  if (config && speaksOfCache(config)) {
    const [own, other] = [join(cwd, FILE_NAME), file].map(printable);
    reportLine(`warning: what ${own} says in [run.cache] counts for nothing: the root project's is ${other}`);
  }
  return files.readFile(file, 1) === "ENOENT" ? undefined : readConfig(file);
}

/** What is wrong with a package.json is for whoever runs a script of it to say. */
function findRootOrNone(cwd: string): string | undefined {
  try {
    return findRoot(cwd);
  } catch {
    return undefined;
  }
}

function speaksOfCache({ settings }: Config): boolean {
  return settings.some(({ path }) => path[0] === "run" && path[1] === "cache");
}

/** Undefined where nothing is cached. Throws Failure. */
export function readCacheSettings(
  config: Config,
  given: GivenOptions,
  cwd: string,
): CacheSettings | undefined {
  if (given.has("no-cache") || !speaksOfCache(config)) return undefined;
  const { settings, file } = config;
  const rules = new Map<string, CacheRule>();
  for (const { path, value } of settings) {
    const [section, part, name, list] = path;
    if (section !== "run" || part !== "cache" || name === undefined) continue;
    const rule = rules.get(name) ?? { ...NOTHING, name };
    const known = LISTS.find((each) => each === list);
    if (known) {
      const saysOutputs = rule.saysOutputs || known === "outputs";
      rules.set(name, { ...rule, [known]: value as string[], saysOutputs });
    } else {
      const field = list === "shared" || list === "trace" ? SWITCHES[list] : "isOn";
      rules.set(name, { ...rule, [field]: value === true });
    }
  }
  const places = given.get("cache")?.last;
  const { local, remote } = readPlaces(places ?? host.originalVariable("TURBO_CACHE"));
  const isVerified = given.has("verify-inputs");
  const accessOf = (access: string) => ({
    isRead: access.includes("r") && !given.has("force") && !isVerified,
    isWritten: access.includes("w") && !isVerified,
  });
  return {
    root: dirname(resolve(cwd, file)),
    rules: [...rules.values()],
    ...accessOf(local),
    remote: readRemoteCache(config, accessOf(remote), cwd, (name) => host.originalVariable(name)),
    asksWhenDry: places !== undefined && remote.includes("r"),
    isVerified,
    isExplained: given.has("why"),
  };
}

const EVERYWHERE = "local:rw,remote:rw";

/** As turbo reads it: a place that is not mentioned is not used. Throws Failure. */
function readPlaces(text: string = EVERYWHERE): { local: string; remote: string } {
  const places = { local: "", remote: "" };
  for (const each of text.split(",")) {
    const [, place, access] = /^(local|remote):(r|w|rw|)$/.exec(each) ?? [];
    if (place === undefined)
      throw new UserError(
        `--cache cannot be "${printable(text)}"`,
        `say local, remote or both, and r, w or rw, as in --cache=${EVERYWHERE}`,
      );
    places[place as keyof typeof places] = access!;
  }
  return places;
}

/** Undefined for a script that is not cached. */
export function ruleFor(
  { rules }: CacheSettings,
  packageName: string,
  scriptName: string,
): CacheRule | undefined {
  const rule = ruleNamed(rules, packageName, scriptName);
  return rule?.isOn ? rule : undefined;
}
