// Two users of one machine, each with a checkout, a home directory and a number, who share a cache.
import { chmod, lchown } from "node:fs/promises";
import { cpSync, linkSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { createProject, type Files, type Project } from "../../support/project.ts";
import { type Environment, REPOSITORY, RT, type RtResult, runRt } from "../../support/rt.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../../support/users.ts";

export interface TestUser {
  readonly home: string;
  readonly checkout: string;
  rt(args: readonly string[], env?: Environment): Promise<RtResult>;
  /** Returns "hit", "ran", or the output of a failed run. */
  run(script: string, env?: Environment): Promise<string>;
}

export interface TwoUsers extends Project {
  /** The current user, with a desktop. */
  readonly developer: TestUser;
  /** Another user, without one. */
  readonly ci: TestUser;
}

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
 * @param env of both @param packages of this repository with their programs, which each checkout gets
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
    for (const [name, program] of Object.entries(packages)) install(name, program, checkout);
    if (as.length > 0 && isRoot) await giveAway(home);
    const run = async (args: readonly string[], more: Environment = {}) =>
      await runRt({
        ...{ args, cwd: checkout, program: [...as, rt] },
        env: { HOME: home, TMPDIR: undefined, ...env, ...variables, ...more },
      });
    return {
      ...{ home, checkout },
      rt: run,
      async run(script, more) {
        const { stdout, stderr, status } = await run(["run", script], more);
        if (status !== 0) return stdout + stderr;
        return stderr.includes("Cached (saved ") ? "hit" : "ran";
      },
    };
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

function install(name: string, program: string, checkout: string): void {
  const modules = `${checkout}/node_modules`;
  cpSync(`${REPOSITORY}/node_modules/${name}`, `${modules}/${name}`, { recursive: true, dereference: true });
  const link = `${modules}/.bin/${program.split("/").at(-1)}`;
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(join("..", name, program), link);
}

/** Makes the other user the owner. */
async function giveAway(folder: string): Promise<void> {
  for (const each of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })])
    await lchown(`${folder}/${each}`, OTHER_USER_ID, OTHER_USER_ID);
}
