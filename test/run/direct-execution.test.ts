// A command that is started without a shell must not be able to tell, and one that is answered without anything being
// started must be answered as bash does: thousands of random commands, each carried out as src/run/shell.ts says and by
// a real bash, compared in arguments, environment, output and exit code.
import { describe, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { openShell, type Shell, splitPlainCommand } from "../../src/run/shell.ts";
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
  "exit",
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
  return { stdout: linesOf(stdout.toString()), status: signalCode ?? exitCode };
}

const linesOf = (output: string) => output.split("\0").toSorted().join("\n");

function shellIn({ directory, env }: Surroundings): Shell {
  return openShell({ choice: "system", inherited: env, initialDirectory: directory });
}

/** What the command does without a shell; undefined when a shell is needed. */
function runDirectly(command: string, surroundings: Surroundings): Seen | undefined {
  const { directory, env } = surroundings;
  const plan = shellIn(surroundings).start(command, directory, env.PATH!);
  if (!plan || plan.argv[1] === "-c") return undefined;
  return start(plan.program, plan.argv, directory, changedEnvironment(env, plan.environment));
}

function answer(command: string, surroundings: Surroundings): Seen | undefined {
  const found = shellIn(surroundings).answer(command);
  return found && { stdout: linesOf(found.output), status: found.code };
}

const bash = Bun.which("bash")!;

const runBash = (command: string, { directory, env }: Surroundings) =>
  start(bash, [bash, "-c", command], directory, env);

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
    const all = surroundingsOf(project);
    let direct = 0;
    for (let round = 0; round < 40_000 && direct < 1200; round += 1) {
      const surroundings = random.below(2) ? all[0]! : random.pick(all);
      const command = randomCommand(random).replaceAll("$PROJECT", project.path);
      const ours = runDirectly(command, surroundings);
      if (!ours) continue;
      direct += 1;
      const theirs = runBash(command, surroundings);
      expect({ command, ...surroundings, ...ours }).toEqual({ command, ...surroundings, ...theirs });
    }
    expect(direct).toBe(1200);
  }, 120_000);

  test("keeps the directory's name as bash would, whichever link led to it", async () => {
    await using project = await createProject(FILES, EXECUTABLE);
    await symlink(".", project.join("link"));
    for (const surroundings of surroundingsOf(project)) {
      const ours = runDirectly("show a", surroundings);
      if (!ours) continue;
      expect({ ...surroundings, ...ours }).toEqual({ ...surroundings, ...runBash("show a", surroundings) });
    }
  });
});

describe("a command that is answered without a process", () => {
  const ANSWERED = ["echo", "true", "false", "exit"];

  test("has the output and the exit code of bash", async () => {
    await using project = await createProject(FILES, EXECUTABLE);
    await symlink(".", project.join("link"));
    const random = createRandom(11);
    const all = surroundingsOf(project);
    const numbers = Array.from({ length: 10 }, () => String(random.below(300)));
    let answered = 0;
    for (let round = 0; round < 20_000 && answered < 600; round += 1) {
      const surroundings = random.below(2) ? all[0]! : random.pick(all);
      const words = Array.from({ length: random.below(4) }, () =>
        random.pick([...WORDS.slice(0, 25), ...numbers, "00", "08", "0x1", "1e1", "+1", "256"]),
      );
      const command = [random.pick(ANSWERED), ...words].join(random.pick([" ", " ", "  "]));
      const ours = answer(command, surroundings);
      if (!ours) continue;
      answered += 1;
      const theirs = runBash(command, surroundings);
      expect({ command, ...surroundings, ...ours }).toEqual({ command, ...surroundings, ...theirs });
    }
    expect(answered).toBe(600);
  }, 60_000);

  test.each(["true", "false x", "exit", "exit 0", "exit 255", "echo", "echo a", "echo a  b=c"])(
    "%j is answered",
    (command) => expect(answer(command, { directory: "/", env: { PATH: process.env.PATH! } })).toBeDefined(),
  );

  test.each([
    ...[
      "exit 256",
      "exit -1",
      "exit a",
      "exit 1 2",
      "exit 01",
      "echo -n",
      "echo a -e",
      "echo 'a'",
      "echo $A",
      ":",
    ],
    ...["true && true", "true; echo", "echo a > b", "pwd", "printf a", `echo ${"a".repeat(600)}`],
  ])("%j is not", (command) =>
    expect(answer(command, { directory: "/", env: { PATH: process.env.PATH! } })).toBeUndefined(),
  );
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
    "exit -1",
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
