// Names, commands and folders of a project that speak to terminals and to a CI service: nothing of them is heard.
import { describe, expect, test } from "bun:test";
import { createProject, type Files } from "../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";

/** Clears the screen, names the window, overwrites the line, speaks to the service, turns the writing round. */
const EVIL = "x\x1b[2J\x1b]0;owned\x07\rover\n::stop-commands::x\n##[group]x\u202ey\x9b2Jz";
const FORBIDDEN = /\x1b\[2J|\x1b\]|\x07|\x9b|\u202e|^::stop-commands|^##\[|over$/m;
/** In quotes, so that bash writes nothing of it. */
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
const EVERY = ["--no-exit-on-error", "--filter", "*"];

describe.skipIf(process.platform === "win32")("hostile names reach no output", () => {
  test.each<[string, string[], Record<string, string>]>([
    ["the list", ["run"], {}],
    ["the list of packages", ["run", "--filter", "*"], {}],
    ["the command before a script", ["run", EVIL], {}],
    ["the command before a script, in colour", ["run", EVIL], { FORCE_COLOR: "1" }],
    ["a hook that fails", ["run", "fails"], {}],
    ["a plan", ["run", "--dry-run", "--filter", "*", EVIL, EVIL], {}],
    ["a plan as JSON", ["run", "--dry-run=json", "--filter", "*", EVIL], {}],
    ["prefixes", ["run", ...EVERY, EVIL], {}],
    ["aligned labels", ["run", "--parallel", ...EVERY, EVIL, "t"], {}],
    ["one after another, in colour", ["run", "--sequential", ...EVERY, EVIL], { FORCE_COLOR: "1" }],
    ["groups", ["run", ...EVERY, EVIL], { GITHUB_ACTIONS: "true" }],
    ["groups whose last line is open", ["run", ...EVERY, "t"], { GITHUB_ACTIONS: "true" }],
    ["labels on GitHub", ["run", "--parallel", ...EVERY, EVIL], { GITHUB_ACTIONS: "true" }],
    ["what is skipped", ["run", "--filter", "*", EVIL], {}],
    ["a report", ["run", "--report", "/dev/stdout", ...EVERY, EVIL], {}],
    ["an unknown script", ["run", `${EVIL}z`], {}],
    ["an unknown script of packages", ["run", "--filter", "*", `${EVIL}z`], {}],
    ["an unknown script of one package", ["run", "--filter", "./packages/a", `${EVIL}z`], {}],
    ["an unknown package", ["run", "--filter", `a${EVIL}z`, "t"], {}],
    ["an unknown package beside a known one", ["run", "--filter", EVIL, "--filter", "a*", "t"], {}],
    ["a script that is missing", ["run", "--workspaces", "fails"], {}],
    ["a directory that is not there", ["--cwd", EVIL, "run"], {}],
    ["a file that is not there", [`./${EVIL}.ts`], {}],
    ["an option that is none", [`--${EVIL}`, "run"], {}],
  ])("%s", async (_, args, env) => {
    await using project = await createProject(FILES);
    const { stdout, stderr } = await runRt({ args, env, cwd: project.path });
    expect(stdout).not.toMatch(FORBIDDEN);
    expect(stderr).not.toMatch(FORBIDDEN);
    expect(stdout + stderr).toContain(args.includes("t") && args.length === 5 ? "open" : "stop-commands::x");
  });

  test.each(["", "a: 1", '{ "scripts": [] }', '{ "scripts": { "\x1b[2J": 1 } '])(
    "a package.json that cannot be used, in a hostile folder: %s",
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
    ["the live view", ["run", ...EVERY, EVIL]],
    ["the live view, all lines", ["run", "--elide-lines", "0", ...EVERY, EVIL]],
    ["aligned labels", ["run", "--parallel", ...EVERY, EVIL]],
    ["a single script", ["run", "--filter", "root", EVIL]],
    ["the list", ["run"]],
    ["a plan", ["run", "--dry-run", "--filter", "*", EVIL]],
  ])("on a terminal: %s", async (_, args) => {
    await using project = await createProject(FILES);
    const command = ["sh", "-c", 'cd "$0" && shift 0 && "$@"; echo "[over]"', project.path, RT, ...args];
    await using terminal = startOnTerminal(command, cleanEnvironment());
    if (args.length === 1) {
      await terminal.shows("any other key to exit");
      terminal.type("x");
    }
    await terminal.shows("[over]");
    const shown = terminal.shown.replaceAll("\r\n", "\n");
    expect(shown).not.toMatch(/\x1b\[2J|\x1b\]|\x07|\x9b|\u202e|^(?:\x1b\[K)?(?:::stop|##\[)|\rover/m);
    expect(shown).toContain("\\u001b[2J");
  });
});

/** Each is read by GitHub Actions as a command at the start of a line; the last two also further on. */
const COMMANDS = [
  "::add-mask::x",
  " ::add-mask::x",
  "\u00a0::ADD-MASK a=b",
  "##[add-mask]x",
  "a##[add-mask]x",
];
const IS_COMMAND = /^\s*::add-mask|##\[add-mask/im;

describe.each(COMMANDS)("a CI service reads no command in the name %j", (name) => {
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
    ["prefixes that are put together", ["run", ...all, "add-mask::x", ":"]],
    ["labels that are put together", ["run", "--sequential", ...all, "add-mask::x", ":"]],
    ["labels", ["run", "--parallel", ...all, name]],
    ["groups", ["run", ...all, name, "add-mask::x"], { GITHUB_ACTIONS: "true" }],
    ["labels on GitHub", ["run", "--parallel", ...all, name], { GITHUB_ACTIONS: "true" }],
    ["an unknown script", ["run", `${name}y`]],
    ["an unknown package", ["run", "--filter", `${name}y`, "t"]],
    ["a file that is not there", [`./${name}.ts`]],
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

test("GitHub's own escapes do not bring back in a name what was taken out", async () => {
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

test("ordinary text stays as it is, and what is copied keeps its backslashes", async () => {
  await using project = await createProject({
    "package.json": { scripts: { "größe 👩‍🚀": "printf 'a\\tb'" } },
  });
  const list = await runRt({ args: ["run"], cwd: project.path });
  expect(list.stdout).toContain("$ rt run 'größe 👩‍🚀'\n    printf 'a\\tb'");
  const run = await runRt({ args: ["run", "größe 👩‍🚀"], cwd: project.path });
  expect(run).toEqual({ stdout: "a\tb", stderr: "$ printf 'a\\tb'\n", status: 0 });
});

test("a command of several lines is shown in one", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "echo 1\necho 2" } } });
  expect(await runRt({ args: ["run", "t"], cwd: project.path })).toEqual({
    stdout: "1\n2\n",
    stderr: "$ echo 1\\necho 2\n",
    status: 0,
  });
});

/** For the reader: what the name looks like where it is printed. */
test("a name is shown as JSON writes it", async () => {
  await using project = await createProject(FILES);
  const { stdout } = await runRt({ args: ["run"], cwd: project.path });
  expect(stdout).toContain(PRINTED);
});
