// A project with cached scripts and a separate cache directory.
import { statSync } from "node:fs";
import { rm } from "node:fs/promises";
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

/** A row of a table: the script `t` of a separate package. */
export interface Case {
  readonly script: string;
  readonly files?: Files;
  /** Its rule in [run.cache], if it is not `true`. */
  readonly rule?: string;
}

/** A project with one package for each case, whose scripts run in one start of rt. */
export interface CachedCases<Name extends string> extends CachedProject {
  /** The path of a file in the package of a case. */
  at(name: Name, ...parts: string[]): string;
  /** Runs all scripts, and returns their outcomes (`outcomeOf()`). @param options of rt */
  runAll(env?: Environment, ...options: string[]): Promise<Record<Name, string>>;
  /** Runs all scripts, and returns the lines of `--why`. */
  explainAll(env?: Environment): Promise<Record<Name, string>>;
}

/** @param files beside the packages */
export async function cachedCases<Name extends string>(
  cases: Readonly<Record<Name, Case>>,
  files: Files = {},
): Promise<CachedCases<Name>> {
  const names = Object.keys(cases) as Name[];
  const all: Files = { "package.json": { name: "root", workspaces: ["packages/*"] }, ...files };
  const rules = names.flatMap((name, index) => {
    const { rule } = cases[name];
    return rule === undefined ? [] : [`"p${index}#t" = ${rule}`];
  });
  for (const [index, name] of names.entries()) {
    all[`packages/p${index}/package.json`] = { name: `p${index}`, scripts: { t: cases[name].script } };
    for (const [path, content] of Object.entries(cases[name].files ?? {}))
      all[`packages/p${index}/${path}`] = content;
  }
  const project = await cachedProject({}, all, ["t = true", ...rules].join("\n"));
  const at: CachedCases<Name>["at"] = (name, ...parts) =>
    project.join(`packages/p${names.indexOf(name)}`, ...parts);
  const start = (env?: Environment, ...options: string[]) =>
    project.rt([...options, "--filter", "*", "--no-exit-on-error", "run", "t"], env);
  /** The line of a case that begins with its label and this text. */
  const findLine = (output: string, name: Name, text: string) => {
    const label = `p${names.indexOf(name)} t`;
    const found = output.split("\n").find((line) => line.replace("warning: ", "").startsWith(label + text));
    return found?.replaceAll(at(name), "$PROJECT").replace(label, "t");
  };
  return {
    ...project,
    at,
    async runAll(env, ...options) {
      const { stdout, stderr } = await start(env, ...options);
      return mapCases(cases, (_, name) => {
        if (findLine(stdout, name, ": Cached (saved ")) return "hit";
        if (!findLine(stdout, name, ": Exited with code 0")) return `failed: ${stdout}${stderr}`;
        return findLine(stderr, name, " ")?.slice("warning: ".length) ?? "ran";
      });
    },
    async explainAll(env) {
      const { stderr } = await start(env, "--why");
      return mapCases(cases, (_, name) => findLine(stderr, name, ": cache ") ?? `none: ${stderr}`);
    },
  };
}

/** Applies a function to each value of a table. */
export function mapCases<Name extends string, Row, Result>(
  table: Readonly<Record<Name, Row>>,
  map: (row: Row, name: Name) => Result,
): Record<Name, Result> {
  const rows = Object.entries<Row>(table).map(([name, row]) => [name, map(row, name as Name)]);
  return Object.fromEntries(rows) as Record<Name, Result>;
}

/** Deletes the local cache, except the hashes of programs, which are slow to compute. */
export async function forget({ cache }: CachedProject): Promise<void> {
  for (const name of ["keys", "blobs", "scripts"])
    for await (const path of new Bun.Glob(`rt/scripts-*/${name}`).scan({
      cwd: cache,
      onlyFiles: false,
      absolute: true,
    }))
      await rm(path, { recursive: true });
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
