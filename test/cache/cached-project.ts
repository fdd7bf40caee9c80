// A project with cached scripts and a separate cache directory.
import { statSync } from "node:fs";
import { createProject, type Files, type Project } from "../support/project.ts";
import { type Environment, type RtResult, runRt } from "../support/rt.ts";
import { trustAll } from "../support/trusted.ts";

export interface CachedProject extends Project {
  /** The value of XDG_CACHE_HOME. */
  readonly cache: string;
  /** Runs `rt` with these arguments in the project. */
  rt(args: readonly string[], env?: Environment): Promise<RtResult>;
  /** Runs the script and returns its outcome (`outcomeOf()`). */
  run(script: string, env?: Environment): Promise<string>;
}

export const CAN_TRACE = process.platform === "linux";

/** The outcome of a run: "ran", "hit", the warning with the uncacheable reason, or the failure. */
export function outcomeOf({ stderr, status }: RtResult, path: string): string {
  if (status !== 0) return `failed: ${stderr}`;
  const warning = stderr.split("\n").find((line) => line.startsWith("warning: "));
  if (stderr.includes("Cached (saved ")) return "hit";
  return warning?.replaceAll(path, "$PROJECT").slice("warning: ".length) ?? "ran";
}

/** A package that is installed while the tests run changes it, and almost every program reads it. */
const LIBRARIES = "/etc/ld.so.cache";
const timeOfLibraries = () => statSync(LIBRARIES, { throwIfNoEntry: false })?.ctimeMs;

/** Names a changed file of the system, because of which a script rightly runs again. */
function describeOtherChange(why: string): string {
  const changed = /\s(\/(?:etc|usr|lib|lib64|bin)\/\S+) (?:changed|was|is|now)\b/.exec(why);
  return changed ? `, since ${changed[1]} changed: was a package installed?` : "";
}

/**
 * @param config lines of [run.cache] @param place the parent directory of the project; by default the directory for temporary
 * files
 */
export async function cachedProject(
  scripts: Readonly<Record<string, string>>,
  files: Files = {},
  config = Object.keys(scripts)
    .map((name) => `"${name}" = true`)
    .join("\n"),
  place?: string,
): Promise<CachedProject> {
  const project = await createProject(
    {
      "package.json": { name: "project", scripts },
      "rtfig.toml": `[run.cache]\n${config}\n`,
      ...files,
    },
    [],
    place,
  );
  const cache = await createProject();
  const libraries = timeOfLibraries();
  /** By the configuration and the variables, which decide what rt asks for. */
  const consents = new Map<string, Promise<Environment>>();
  const consentFor = (text: string, env?: Environment) => {
    // Tests of consent set RT_TRUST themselves. For all others every server is allowed.
    if (!/^\[(?:cache|run)\.remote\]$/m.test(text) || (env && "RT_TRUST" in env)) return {};
    const key = JSON.stringify([text, env]);
    const consent = consents.get(key) ?? trustAll(project.path, env);
    consents.set(key, consent);
    return consent;
  };
  const rt: CachedProject["rt"] = async (args, env) => {
    const file = Bun.file(project.join("rtfig.toml"));
    const allowed = await consentFor((await file.exists()) ? await file.text() : "", env);
    return await runRt({ args, cwd: project.path, env: { XDG_CACHE_HOME: cache.path, ...allowed, ...env } });
  };
  return {
    ...project,
    cache: cache.path,
    rt,
    async run(script, env) {
      const outcome = outcomeOf(await rt(["run", script], env), project.path);
      if (outcome !== "ran" || timeOfLibraries() === libraries) return outcome;
      return `ran${describeOtherChange((await rt(["cache", "why", script], env)).stdout)}`;
    },
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
      await cache[Symbol.asyncDispose]();
    },
  };
}
