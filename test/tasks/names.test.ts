// Names, commands and folders that contain control sequences for terminals or for a CI service: rt escapes them all.
import { describe, expect, test } from "bun:test";
import { createProject, type Files } from "../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";

/**
 * Clears the screen, sets the window's title, overwrites the line, contains CI commands, and reverses the text
 * direction.
 */
const EVIL = "x\x1b[2J\x1b]0;owned\x07\rover\n::stop-commands::x\n##[group]x\u202ey\x9b2Jz";
const FORBIDDEN = /\x1b\[2J|\x1b\]|\x07|\x9b|\u202e|^::stop-commands|^##\[|over$/m;
/** In quotes, so that bash prints nothing. */
const COMMAND = `: '${EVIL}'`;
const PRINTED = "\\u001b[2J\\u001b]0;owned\\u0007\\rover\\n::stop-commands::x";

const FILES: Files = {
  "package.json": {
    name: "root",
    workspaces: ["packages/*"],
    scripts: { [EVIL]: COMMAND, [`pre${EVIL}`]: COMMAND, fails: "true", prefails: `${COMMAND}; exit 3` },
  },
  "packages/a/package.json": {
    name: `a${EVIL}`,
    scripts: { [EVIL]: COMMAND, [`post${EVIL}`]: `${COMMAND}; exit 3`, t: `${COMMAND}; printf open` },
    dependencies: { [`b${EVIL}`]: "*" },
  },
  "packages/b/package.json": {
    name: `b${EVIL}`,
    scripts: { [EVIL]: `${COMMAND}; exit 4`, t: `${COMMAND}; exit 5` },
    dependencies: { [`a${EVIL}`]: "*" },
  },
  [`packages/c${EVIL.replaceAll("/", "")}/package.json`]: { scripts: { [EVIL]: COMMAND, t: COMMAND } },
};
const ALL = ["--no-exit-on-error", "--filter", "*"];

describe.skipIf(process.platform === "win32")("rt escapes control sequences in names", () => {
  test.each<[string, string[], Record<string, string>]>([
    ["the list", ["run"], {}],
    ["the list of packages", ["run", "--filter", "*"], {}],
    ["the command before a script", ["run", EVIL], {}],
    ["the command before a script, in colour", ["run", EVIL], { FORCE_COLOR: "1" }],
    ["a hook that fails", ["run", "fails"], {}],
    ["a plan", ["run", "--dry-run", "--filter", "*", EVIL, EVIL], {}],
    ["a plan as JSON", ["run", "--dry-run=json", "--filter", "*", EVIL], {}],
    ["prefixes", ["run", ...ALL, EVIL], {}],
    ["aligned labels", ["run", "--parallel", ...ALL, EVIL, "t"], {}],
    ["JSON lines", ["run", "--output=json", ...ALL, EVIL], {}],
    ["output of failed scripts", ["run", "--output=errors", ...ALL, EVIL], {}],
    ["sequential output, in colour", ["run", "--sequential", ...ALL, EVIL], { FORCE_COLOR: "1" }],
    ["groups", ["run", ...ALL, EVIL], { GITHUB_ACTIONS: "true" }],
    ["groups with an unfinished last line", ["run", ...ALL, "t"], { GITHUB_ACTIONS: "true" }],
    ["labels on GitHub", ["run", "--parallel", ...ALL, EVIL], { GITHUB_ACTIONS: "true" }],
    ["skipped scripts", ["run", "--filter", "*", EVIL], {}],
    ["a report", ["run", "--report", "/dev/stdout", ...ALL, EVIL], {}],
    ["an unknown script", ["run", `${EVIL}z`], {}],
    ["an unknown script of packages", ["run", "--filter", "*", `${EVIL}z`], {}],
    ["an unknown script of one package", ["run", "--filter", "./packages/a", `${EVIL}z`], {}],
    ["an unknown package", ["run", "--filter", `a${EVIL}z`, "t"], {}],
    ["an unknown package next to a known one", ["run", "--filter", EVIL, "--filter", "a*", "t"], {}],
    ["a missing script", ["run", "--workspaces", "fails"], {}],
    ["a missing directory", ["--cwd", EVIL, "run"], {}],
    ["a missing file", [`./${EVIL}.ts`], {}],
    ["an unknown option", [`--${EVIL}`, "run"], {}],
  ])("in %s", async (_, args, env) => {
    await using project = await createProject(FILES);
    const { stdout, stderr } = await runRt({ args, env, cwd: project.path });
    expect(stdout).not.toMatch(FORBIDDEN);
    expect(stderr).not.toMatch(FORBIDDEN);
    expect(stdout + stderr).toContain(args.includes("t") && args.length === 5 ? "open" : "stop-commands::x");
  });

  test.each(["", "a: 1", '{ "scripts": [] }', '{ "scripts": { "\x1b[2J": 1 } '])(
    "in an error about an unusable package.json in a hostile folder: %s",
    async (text) => {
      await using project = await createProject({ ...FILES, [`packages/${EVIL}/package.json`]: text });
      for (const args of [
        ["--filter", "*", "t"],
        ["--filter", "*"],
        ["--no-exit-on-error", "--workspaces", "t"],
      ]) {
        const { stdout, stderr } = await runRt({ args: ["run", ...args], cwd: project.path });
        expect(stdout + stderr).not.toMatch(FORBIDDEN);
      }
    },
  );

  test.each([
    ["the live view", ["run", ...ALL, EVIL]],
    ["the live view, all lines", ["run", "--elide-lines", "0", ...ALL, EVIL]],
    ["aligned labels", ["run", "--parallel", ...ALL, EVIL]],
    ["a single script", ["run", "--filter", "root", EVIL]],
    ["the list", ["run"]],
    ["a plan", ["run", "--dry-run", "--filter", "*", EVIL]],
  ])("on a terminal, in %s", async (_, args) => {
    await using project = await createProject(FILES);
    const command = ["sh", "-c", 'cd "$0" && shift 0 && "$@"; echo "[over]"', project.path, RT, ...args];
    await using terminal = startOnTerminal(command, cleanEnvironment());
    if (args.length === 1) {
      await terminal.awaitOutput("any other key to exit");
      terminal.type("x");
    }
    await terminal.awaitOutput("[over]");
    const shown = terminal.shown.replaceAll("\r\n", "\n");
    expect(shown).not.toMatch(/\x1b\[2J|\x1b\]|\x07|\x9b|\u202e|^(?:\x1b\[K)?(?:::stop|##\[)|\rover/m);
    expect(shown).toContain("\\u001b[2J");
  });
});

/** GitHub Actions executes each as a command at the start of a line; the last two also in the middle of a line. */
const COMMANDS = [
  "::add-mask::x",
  " ::add-mask::x",
  "\u00a0::ADD-MASK a=b",
  "##[add-mask]x",
  "a##[add-mask]x",
];
const IS_COMMAND = /^\s*::add-mask|##\[add-mask/im;

describe.each(COMMANDS)("rt prints no CI command for the name %j", (name) => {
  const files: Files = {
    "package.json": { workspaces: ["*"], scripts: { [name]: "exit 3", [`pre${name}`]: "true", "a##": ":" } },
    "one/package.json": { name, scripts: { [name]: "true", ":": "true" } },
    "two/package.json": { name: ":", scripts: { "add-mask::x": "echo ::x" } },
    [`${name}/package.json`]: { scripts: { [name]: "exit 4", command: `: ${JSON.stringify(name)}` } },
  };
  const all = ["--no-exit-on-error", "--filter", "*"];

  test.each<[string, string[], Record<string, string>?]>([
    ["the list of scripts", ["run"]],
    ["the list of packages", ["run", "--filter", "*"]],
    ["the line before a script", ["run", name]],
    ["the line before a script that is a command", ["run", "--cwd", name, "command"]],
    ["a plan", ["run", "--dry-run", "--filter", "*", name]],
    ["a plan as JSON", ["run", "--dry-run=json", "--filter", "*", name]],
    ["prefixes", ["run", ...all, name]],
    ["prefixes of hooks", ["run", "--parallel", name, "a##"]],
    ["prefixes that together form a command", ["run", ...all, "add-mask::x", ":"]],
    ["labels that together form a command", ["run", "--sequential", ...all, "add-mask::x", ":"]],
    ["labels", ["run", "--parallel", ...all, name]],
    ["groups", ["run", ...all, name, "add-mask::x"], { GITHUB_ACTIONS: "true" }],
    ["labels on GitHub", ["run", "--parallel", ...all, name], { GITHUB_ACTIONS: "true" }],
    ["an unknown script", ["run", `${name}y`]],
    ["an unknown package", ["run", "--filter", `${name}y`, "t"]],
    ["a missing file", [`./${name}.ts`]],
    ["the runs in the cache", ["cache", "why", name]],
    ["secrets of a script", ["secrets", "env", name]],
  ])("in %s", async (_, args, env = {}) => {
    await using project = await createProject(files);
    const { stdout, stderr } = await runRt({ args, env, cwd: project.path });
    expect(stdout).not.toMatch(IS_COMMAND);
    expect(stderr).not.toMatch(IS_COMMAND);
    expect(stdout + stderr).not.toBe("");
  });
});

test("GitHub's own escapes in a name do not restore a control character", async () => {
  const name = "50%0A::stop-commands::x,y:z";
  await using project = await createProject({
    "package.json": { workspaces: ["packages/*"] },
    "packages/a/package.json": { name: "a", scripts: { [name]: "exit 3" } },
    "packages/b/package.json": { name: "b", scripts: { [name]: "true" } },
  });
  const { stdout } = await runRt({
    args: ["run", "--silent", "--sequential", "--filter", "a", name],
    env: { GITHUB_ACTIONS: "true" },
    cwd: project.path,
  });
  expect(stdout).not.toContain("\n::");
  const grouped = await runRt({
    args: ["run", "--silent", "--filter", "a", name],
    env: { GITHUB_ACTIONS: "true" },
    cwd: project.path,
  });
  expect(grouped.stdout.split("\n")).toEqual([
    "::group::a 50%250A::stop-commands::x,y:z",
    "::endgroup::",
    "::error title=a 50%250A%3A%3Astop-commands%3A%3Ax%2Cy%3Az::a 50%250A::stop-commands::x,y:z: Exited with code 3",
    "",
  ]);
});

test("ordinary text is unchanged, and a command to copy keeps its backslashes", async () => {
  await using project = await createProject({
    "package.json": { scripts: { "größe 👩‍🚀": "printf 'a\\tb'" } },
  });
  const list = await runRt({ args: ["run"], cwd: project.path });
  expect(list.stdout).toContain("$ rt run 'größe 👩‍🚀'\n    printf 'a\\tb'");
  const run = await runRt({ args: ["run", "größe 👩‍🚀"], cwd: project.path });
  expect(run).toEqual({ stdout: "a\tb", stderr: "$ printf 'a\\tb'\n", status: 0 });
});

test("a command of several lines is printed as one line", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "echo 1\necho 2" } } });
  expect(await runRt({ args: ["run", "t"], cwd: project.path })).toEqual({
    stdout: "1\n2\n",
    stderr: "$ echo 1\\necho 2\n",
    status: 0,
  });
});

test("a name is escaped as in JSON", async () => {
  await using project = await createProject(FILES);
  const { stdout } = await runRt({ args: ["run"], cwd: project.path });
  expect(stdout).toContain(PRINTED);
});
