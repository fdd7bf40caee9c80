// Runs one command in bash and with src/runner/script/shell.ts, in many environments, and returns what programs
// observe.
import { symlink } from "node:fs/promises";
import { findProgram } from "../../../build/system-programs.ts";
import { openShell, type Shell } from "../../../src/runner/script/shell.ts";
import { createProject, type Project } from "../../support/project.ts";
import { ABSENT } from "../../support/rt.ts";

/** Prints its own arguments and environment from the kernel, without a shell. */
const PRINT_PROCESS = "#!/usr/bin/env -S cat /proc/self/cmdline /proc/self/environ --\n";

export const WORDS = [
  "a",
  "-x",
  "--flag",
  "--flag=value",
  "a=b",
  "A=~",
  "x:y",
  "a,b",
  "1",
  "+1",
  "@a",
  "%",
  "%%",
  "=",
  "==",
  "./x",
  "../x",
  "/",
  "//",
  ".",
  "..",
  "-",
  "--",
  "_",
  "a.b",
  "B",
  "日",
  "é",
  "*",
  "?",
  "$A",
  "'q'",
  '"q"',
  "\\",
  "{a,b}",
  "~",
  "~root",
  "a~",
  "#",
  "a#b",
  "!",
  "&",
  "|",
  ";",
  ">x",
  "`",
  "(",
  "\t",
  "a\nb",
  "$(id)",
  "[a]",
  "^",
  "x=y=z",
  "show",
  "echo",
  "-n",
  "-e",
  "in",
  "do",
  "]",
];

export interface ShellContext {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}

export function contextsOf(project: Project): ShellContext[] {
  const PATH = `${project.join("bin")}:${process.env.PATH}`;
  const at = (env: Record<string, string>, directory = project.path) => ({
    directory,
    env: { PATH, ...env },
  });
  return [
    at({}),
    at({ SHLVL: "1", PWD: project.path, OLDPWD: "/", _: "/usr/bin/before" }),
    at({ SHLVL: "0", PWD: "/elsewhere", OLDPWD: ABSENT }),
    at({ SHLVL: "41", PWD: "", OLDPWD: "" }),
    at({ SHLVL: "abc" }),
    at({ SHLVL: "999" }),
    at({ SHLVL: "1000" }),
    at({ SHLVL: "-3" }),
    at({ SHLVL: " 2" }),
    at({ SHLVL: "007" }),
    at({ SHLVL: "" }),
    at({ PWD: project.join("link") }, project.join("link")),
    at({ PWD: project.join("link") }),
    at({ PWD: `${project.path}/` }),
    at({ PWD: `${project.path}/.` }),
    at({ PWD: `${project.path}/sub/..` }),
    at({ OLDPWD: project.join("plain") }),
    at({ OLDPWD: "." }),
    at({ PATH: "bin:/usr/bin:/bin" }),
    at({ PATH: ":/usr/bin:/bin" }),
    at({ PATH: ".:/usr/bin:/bin" }),
    at({ PATH: `${ABSENT}:${project.join("locked")}:${project.join("bin")}:/usr/bin:/bin` }),
    at({ PATH: `${project.join("directories")}:${project.join("bin")}:/usr/bin:/bin` }),
    at({ PATH: "" }),
    at({ BASH_ENV: project.join("env.sh") }),
    at({ "BASH_FUNC_show%%": "() { echo function; }" }),
    at({ POSIXLY_CORRECT: "1" }),
    at({ SHELLOPTS: "xtrace" }),
    at({ EXECIGNORE: "*show" }),
    ...[
      "IFS",
      "PS1",
      "PS2",
      "PS3",
      "PS4",
      "OPTIND",
      "OPTERR",
      "PPID",
      "UID",
      "RANDOM",
      "SRANDOM",
      "LINENO",
      "HISTCMD",
      "EPOCHSECONDS",
      "COMP_WORDBREAKS",
      "BASHOPTS",
    ].map((name) => at({ [name]: "5" })),
    at({
      CDPATH: "/",
      GLOBIGNORE: "*",
      ENV: "x",
      TMOUT: "1",
      "odd-name": "1",
      "a.b": "2",
      EMPTY: "",
      LINES: "1",
      COLUMNS: "2",
      HISTFILE: "h",
      LC_ALL: "C",
      _: "",
    }),
  ];
}

const FILES = {
  "bin/show": PRINT_PROCESS,
  show: PRINT_PROCESS,
  "bin/other": '#!/usr/bin/env sh\necho other "$@"\nexit 9\n',
  "bin/plain": "echo a script without a first line\n",
  plain: "echo plain\n",
  "bin/text": "not executable",
  "sub/x": "",
  "directories/show/x": "",
  "locked/show": "not executable",
  "env.sh": "echo from the environment",
};
const EXECUTABLE = ["bin/show", "show", "bin/other", "bin/plain", "plain"];

/** Creates a project with programs and a link to itself. */
export async function createComparisonProject(): Promise<Project> {
  const project = await createProject(FILES, EXECUTABLE);
  await symlink(".", project.join("link"));
  return project;
}

export interface CommandResult {
  readonly stdout: string;
  readonly status: number | string;
}

export function start(
  program: string,
  argv: readonly string[],
  directory: string,
  env: Record<string, string>,
): CommandResult {
  const { stdout, exitCode, signalCode } = Bun.spawnSync([program, ...argv.slice(1)], {
    argv0: argv[0],
    cwd: directory,
    env,
    stdin: "ignore",
    stderr: "ignore",
    stdout: "pipe",
  });
  return { stdout: linesOf(stdout.toString()), status: signalCode ?? exitCode };
}

export const linesOf = (output: string) => output.split("\0").toSorted().join("\n");

export function shellIn({ directory, env }: ShellContext): Shell {
  return openShell({ choice: "system", inherited: env, initialDirectory: directory });
}

const bash = findProgram("bash");

export const runBash = (command: string, { directory, env }: ShellContext) =>
  start(bash, [bash, "-c", command], directory, env);
