// A project with scripts that are cached, and a cache of its own.
import { createProject, type Files, type Project } from "../support/project.ts";
import { type Environment, type RtResult, runRt } from "../support/rt.ts";
import { allowAll } from "../support/trusted.ts";

export interface CachedProject extends Project {
  /** What XDG_CACHE_HOME is. */
  readonly cache: string;
  /** `rt` with these words, in the project. */
  rt(args: readonly string[], env?: Environment): Promise<RtResult>;
  /** Runs it and tells which way, as `wayOf()` has it. */
  run(script: string, env?: Environment): Promise<string>;
}

export const CAN_TRACE = process.platform === "linux";

/** Which way a run went: "ran", "hit", the line that says why it was not kept, or how it failed. */
export function wayOf({ stderr, status }: RtResult, path: string): string {
  if (status !== 0) return `failed: ${stderr}`;
  const warning = stderr.split("\n").find((line) => line.startsWith("warning: "));
  if (stderr.includes("Done before: ")) return "hit";
  return warning?.replaceAll(path, "$PROJECT").slice("warning: ".length) ?? "ran";
}

/**
 * Names the file of the system that has changed since the last run. A package that is installed beside the tests changes
 * /etc/ld.so.cache, which nearly each program reads: then a run is right to run again.
 */
function describeOtherChange(why: string): string {
  const changed = /\s(\/(?:etc|usr|lib|lib64|bin)\/\S+) (?:has|is) /.exec(why);
  return changed ? `, since ${changed[1]} has changed: was a package installed?` : "";
}

/** @param config lines of [run.cache] @param place where the project is made, in place of the directory for temporary files */
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
  const rt: CachedProject["rt"] = async (args, env) => {
    const file = Bun.file(project.join("rtfig.toml"));
    const text = (await file.exists()) ? await file.text() : "";
    // A test that sets RT_TRUST itself is about consent. All others allow what servers get.
    const mayAsk = /^\[(?:cache|run)\.remote\]$/m.test(text) && !(env && "RT_TRUST" in env);
    const allowed = mayAsk ? await allowAll(project.path, env) : {};
    return await runRt({ args, cwd: project.path, env: { XDG_CACHE_HOME: cache.path, ...allowed, ...env } });
  };
  return {
    ...project,
    cache: cache.path,
    rt,
    async run(script, env) {
      const way = wayOf(await rt(["run", script], env), project.path);
      return way === "ran"
        ? `ran${describeOtherChange((await rt(["cache", "why", script], env)).stdout)}`
        : way;
    },
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
      await cache[Symbol.asyncDispose]();
    },
  };
}
