// A project with scripts that are cached, and a cache of its own.
import { createProject, type Files, type Project } from "../support/project.ts";
import { type Environment, type RtResult, runRt } from "../support/rt.ts";

export interface CachedProject extends Project {
  /** What XDG_CACHE_HOME is. */
  readonly cache: string;
  /** `rt` with these words, in the project. */
  rt(args: readonly string[], env?: Environment): Promise<RtResult>;
  /** Runs it and tells which way: "ran", "hit", or the line that says why it was not kept. */
  run(script: string, env?: Environment): Promise<string>;
}

export const CAN_TRACE = process.platform === "linux";

/** @param config lines of [run.cache] */
export async function cachedProject(
  scripts: Readonly<Record<string, string>>,
  files: Files = {},
  config = Object.keys(scripts)
    .map((name) => `"${name}" = true`)
    .join("\n"),
): Promise<CachedProject> {
  const project = await createProject({
    "package.json": { name: "project", scripts },
    "rtfig.toml": `[run.cache]\n${config}\n`,
    ...files,
  });
  const cache = await createProject();
  const rt: CachedProject["rt"] = async (args, env) =>
    await runRt({ args, cwd: project.path, env: { XDG_CACHE_HOME: cache.path, ...env } });
  return {
    ...project,
    cache: cache.path,
    rt,
    async run(script, env) {
      const { stderr, status } = await rt(["run", script], env);
      if (status !== 0) return `failed: ${stderr}`;
      const warning = stderr.split("\n").find((line) => line.startsWith("warn: "));
      if (stderr.includes("Done before: ")) return "hit";
      return warning?.replaceAll(project.path, "$PROJECT").slice("warn: ".length) ?? "ran";
    },
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
      await cache[Symbol.asyncDispose]();
    },
  };
}
