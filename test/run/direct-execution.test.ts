// A command that is started without a shell must not be able to tell: thousands of random commands, each carried
// out as src/run/shell.ts says and by a real bash, compared in arguments, environment, output and exit code.
import { describe, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { openShell, type ShellCommand, splitPlainCommand } from "../../src/run/shell.ts";
import { createProject, type Project } from "../support/project.ts";
import { createRandom } from "../support/random.ts";

/** Writes its own arguments and environment as the kernel has them, and no shell has a part in it. */
const WITNESS = "#!/usr/bin/env -S cat /proc/self/cmdline /proc/self/environ --\n";
const PROGRAMS = ["show", "bin/show", "./show", "../show", "sub/../show", "other", "$PROJECT/bin/show"];
const NAMES = [
  ...PROGRAMS,
  ...PROGRAMS,
  ...PROGRAMS,
  "echo",
  "true",
  "false",
  "test",
  "[",
  "printf",
  "pwd",
  "kill",
  "command",
  "builtin",
  "exec",
  "eval",
  "source",
  ".",
  ":",
  "time",
  "!",
  "cd",
  "type",
  "set",
  "ulimit",
  "umask",
  "nosuch",
  "./nosuch",
  "bin",
  "./bin",
  "./plain",
  "plain",
  "text",
  "a=b",
  "=",
  "-x",
  "%1",
  "+x",
  "@x",
  ",",
  "..",
  "~",
  "if",
  "then",
  "function",
  "coproc",
  "select",
  "false,",
  "true/",
  "[[",
  "]]",
  "{",
  "}",
];
const WORDS = [
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

function randomCommand(random: ReturnType<typeof createRandom>): string {
  const words = [
    random.pick(NAMES),
    ...Array.from({ length: random.below(5) }, () =>
      random.pick(random.below(3) ? WORDS.slice(0, 25) : WORDS),
    ),
  ];
  const spaces = () => " ".repeat(1 + (random.below(5) === 0 ? random.below(3) : 0));
  return `${random.below(20) ? "" : " "}${words.map((word, index) => (index ? spaces() : "") + word).join("")}${random.below(20) ? "" : "  "}`;
}

interface Surroundings {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}

function surroundingsOf(project: Project): Surroundings[] {
  const PATH = `${project.join("bin")}:${process.env.PATH}`;
  const at = (env: Record<string, string>, directory = project.path) => ({
    directory,
    env: { PATH, ...env },
  });
  return [
    at({}),
    at({ SHLVL: "1", PWD: project.path, OLDPWD: "/", _: "/usr/bin/before" }),
    at({ SHLVL: "0", PWD: "/elsewhere", OLDPWD: "/nonexistent" }),
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
    at({ PATH: `/nonexistent:${project.join("locked")}:${project.join("bin")}:/usr/bin:/bin` }),
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
  "bin/show": WITNESS,
  show: WITNESS,
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

interface Seen {
  readonly stdout: string;
  readonly status: number | string;
}

function start(
  program: string,
  argv: readonly string[],
  directory: string,
  env: Record<string, string>,
): Seen {
  const { stdout, exitCode, signalCode } = Bun.spawnSync([program, ...argv.slice(1)], {
    argv0: argv[0],
    cwd: directory,
    env,
    stdin: "ignore",
    stderr: "ignore",
    stdout: "pipe",
  });
  return { stdout: stdout.toString().split("\0").toSorted().join("\n"), status: signalCode ?? exitCode };
}

/** How the command is started without a shell; undefined when a shell is needed. */
function directPlan(command: string, { directory, env }: Surroundings): ShellCommand | undefined {
  const shell = openShell({
    choice: "system",
    inherited: env,
    initialDirectory: directory,
    runtimePath: "/rt",
  });
  const plan = shell(command, directory, env.PATH!);
  return plan?.argv[1] === "-c" ? undefined : plan;
}

/** As `replace` of platform/process.ts makes it. */
function changedEnvironment(
  env: Surroundings["env"],
  changes: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const all = { ...env, ...changes };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

describe("a command that is started directly", () => {
  test("has the arguments, environment, output and exit code that bash would give it", async () => {
    await using project = await createProject(FILES, EXECUTABLE);
    await symlink(".", project.join("link"));
    const random = createRandom(7);
    const surroundings = surroundingsOf(project);
    const bash = Bun.which("bash")!;
    let direct = 0;
    for (let round = 0; round < 40_000 && direct < 1200; round += 1) {
      const { directory, env } = random.below(2) ? surroundings[0]! : random.pick(surroundings);
      const command = randomCommand(random).replaceAll("$PROJECT", project.path);
      const plan = directPlan(command, { directory, env });
      if (!plan) continue;
      direct += 1;
      const ours = start(plan.program, plan.argv, directory, changedEnvironment(env, plan.environment));
      const theirs = start(bash, [bash, "-c", command], directory, env);
      expect({ command, env, directory, ...ours }).toEqual({ command, env, directory, ...theirs });
    }
    expect(direct).toBe(1200);
  }, 120_000);

  test("keeps the directory's name as bash would, whichever link led to it", async () => {
    await using project = await createProject(FILES, EXECUTABLE);
    await symlink(".", project.join("link"));
    const bash = Bun.which("bash")!;
    for (const { directory, env } of surroundingsOf(project)) {
      const plan = directPlan("show a", { directory, env });
      if (!plan) continue;
      const ours = start(plan.program, plan.argv, directory, changedEnvironment(env, plan.environment));
      const theirs = start(bash, [bash, "-c", "show a"], directory, env);
      expect({ env, directory, ...ours }).toEqual({ env, directory, ...theirs });
    }
  });
});

describe("splitPlainCommand()", () => {
  test.each([
    ["tsc -p .", ["tsc", "-p", "."]],
    ["  node   x.js  ", ["node", "x.js"]],
    ["echo hello", ["echo", "hello"]],
    ["true", ["true"]],
    ["vite build --mode=production", ["vite", "build", "--mode=production"]],
    ["esbuild a.ts --define:A=1", ["esbuild", "a.ts", "--define:A=1"]],
  ])("%j is %j", (command, words) => expect(splitPlainCommand(command)).toEqual(words));

  test.each([
    "",
    " ",
    "echo -n x",
    "echo 'x'",
    "a && b",
    "a; b",
    "a | b",
    "a > b",
    "a $B",
    "a `b`",
    "a *",
    "a ~",
    "A=1 b",
    "cd x",
    "exit 3",
    "! true",
    "time x",
    "[ -f x ]",
    "{ a",
    ". x",
    ": x",
    "test -f x",
    "a\nb",
    "a\tb",
    "a#b",
    "a\\ b",
    "é",
    "a?",
    "a[b]",
    "(a)",
    "%1",
    "-x",
    "+x y",
    "=x",
    "a!b",
    "a&",
    "a^b",
    "true --help",
    "exec a",
    "export A=b",
    "if a",
    "command a",
    "type a",
    "printf a",
    "a {b,c}",
  ])("%j is left to the shell", (command) => expect(splitPlainCommand(command)).toBeUndefined());
});
