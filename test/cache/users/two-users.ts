// Two users of one machine, each with a checkout, a home directory and a number, who share a cache.
import { chmod, lchown } from "node:fs/promises";
import { cpSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join, parse } from "node:path";
import { createProject, type Files, type Project } from "../../support/project.ts";
import { type Environment, REPOSITORY, RT, type RtResult, runRt } from "../../support/rt.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../../support/users.ts";

export interface TestUser {
  readonly home: string;
  readonly checkout: string;
  rt(args: readonly string[], env?: Environment): Promise<RtResult>;
}

export interface TwoUsers extends Project {
  /** The current user, with a desktop. */
  readonly developer: TestUser;
  /** Another user, without one. */
  readonly ci: TestUser;
}

const MODULES = `${REPOSITORY}/node_modules`;

const DEVELOPER: Environment = {
  ...{ USER: "ada", LOGNAME: "ada", SHELL: "/bin/zsh", TERM: "xterm-kitty", COLORTERM: "truecolor" },
  ...{ LANG: "de_DE.UTF-8", LC_TIME: "de_DE.UTF-8", SSH_AUTH_SOCK: "/run/ada/agent", DISPLAY: ":0" },
  ...{ SHLVL: "3", OLDPWD: "/", FORCE_COLOR: "1", PATH: `/usr/games:${process.env.PATH}` },
};

/** PATH has another order. The variables of npm and git are those of an `npm run` in a hook. */
const CI: Environment = {
  ...{ USER: "runner", TERM: "dumb", CI: "true", GITHUB_ACTIONS: "true", GITHUB_SHA: "0123" },
  ...{ GIT_DIR: "/nowhere", npm_config_cache: "/nowhere", npm_package_resolved: "x", NO_COLOR: "1" },
  PATH: [...new Set(process.env.PATH!.split(":"))].filter((each) => each !== "/usr/local/sbin").join(":"),
};

/**
 * @param files the project, for each user
 * @param env of both @param packages of this repository for each checkout, with their programs
 */
export async function twoUsers(
  files: Files,
  env: Environment,
  packages: Readonly<Record<string, string>> = {},
): Promise<TwoUsers> {
  const below = (folder: string) =>
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
  const [ada, runner] = ["ada/work/shop", "runner/builds/4711/checkout"];
  const project = await createProject({ ...below(ada), ...below(runner) });
  await chmod(project.path, 0o755);
  // The folder of the repository may be closed to other users.
  const rt = project.join("rt");
  place(RT, rt);
  const open = async (place: string, variables: Environment, as: readonly string[]): Promise<TestUser> => {
    const [home, checkout] = [project.join(place.split("/")[0]!), project.join(place)];
    for (const name of dependenciesOf(Object.keys(packages))) install(name, checkout);
    for (const [name, program] of Object.entries(packages)) linkProgram(name, program, checkout);
    if (as.length > 0 && isRoot) await giveAway(home);
    const run: TestUser["rt"] = async (args, more = {}) =>
      await runRt({
        ...{ args, cwd: checkout, program: [...as, rt] },
        env: { HOME: home, TMPDIR: undefined, ...env, ...variables, ...more },
      });
    return { home, checkout, rt: run };
  };
  return {
    ...project,
    developer: await open(ada, DEVELOPER, []),
    ci: await open(runner, CI, AS_OTHER_USER),
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

function place(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    cpSync(from, to); // another disk
  }
}

/** Returns the packages, and what they depend on, directly or indirectly. Packages for other systems are not installed. */
function dependenciesOf(packages: readonly string[]): Set<string> {
  const all = new Set(packages);
  for (const name of all) {
    const manifest = JSON.parse(readFileSync(`${MODULES}/${name}/package.json`, "utf8")) as Partial<
      Record<"dependencies" | "optionalDependencies", object>
    >;
    const { dependencies, optionalDependencies } = manifest;
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies }))
      if (existsSync(`${MODULES}/${each}`)) all.add(each);
  }
  return all;
}

function install(name: string, checkout: string): void {
  const copy = `${checkout}/node_modules/${name}`;
  cpSync(`${MODULES}/${name}`, copy, { recursive: true, dereference: true });
}

function linkProgram(name: string, program: string, checkout: string): void {
  const link = `${checkout}/node_modules/.bin/${parse(program).name}`;
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(join("..", name, program), link);
}

/** Makes the other user the owner. */
async function giveAway(folder: string): Promise<void> {
  for (const each of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })])
    await lchown(`${folder}/${each}`, OTHER_USER_ID, OTHER_USER_ID);
}
