// Tests scripts of package.json: how rt prints them, and in which directory and shell they run.
import { expect, test } from "bun:test";
import { closeSync, constants, openSync } from "node:fs";
import { createProject } from "../support/project.ts";
import { ABSENT, RT } from "../support/rt.ts";
import { type Row, testTranscripts } from "../support/transcripts.ts";
import { packageWith as scripts } from "../support/workspace.ts";

testTranscripts("a script", [
  [
    "runs and is printed first",
    { files: scripts({ hello: "echo hi" }), args: ["hello"], stdout: "hi\n", stderr: "$ echo hi\n" },
  ],
  [
    "runs with run",
    { files: scripts({ hello: "echo hi" }), args: ["run", "hello"], stdout: "hi\n", stderr: "$ echo hi\n" },
  ],
  [
    "is printed with its arguments",
    {
      files: scripts({ hello: "echo hi" }),
      args: ["hello", "a b", "c", "it's"],
      stdout: "hi a b c it's\n",
      stderr: "$ echo hi 'a b' c 'it'\\''s'\n",
    },
  ],
  [
    "is not printed with --silent",
    { files: scripts({ hello: "echo hi" }), args: ["--silent", "hello"], stdout: "hi\n" },
  ],
  [
    "is not printed with run --silent",
    { files: scripts({ hello: "echo hi" }), args: ["run", "--silent", "hello"], stdout: "hi\n" },
  ],
  ...["rt inner", "rt run inner && true", "npm run inner"].map((outer): Row => [
    `is not printed with --silent when another script runs it: ${outer}`,
    {
      files: scripts({ outer, inner: "echo hi", postouter: outer }),
      args: ["--silent", "outer"],
      stdout: "hi\nhi\n",
    },
  ]),
  [
    "is not printed below a silent npm",
    {
      files: scripts({ hello: "echo hi" }),
      args: ["hello"],
      env: { npm_config_loglevel: "silent" },
      stdout: "hi\n",
    },
  ],
  [
    "is printed below an npm that is not silent",
    {
      files: scripts({ outer: "rt inner && true", inner: "echo hi $npm_config_loglevel" }),
      args: ["outer"],
      env: { npm_config_loglevel: "warn" },
      stdout: "hi warn\n",
      stderr: "$ rt inner && true\n$ echo hi $npm_config_loglevel\n",
    },
  ],
  [
    "gets a --silent after its name",
    {
      files: scripts({ hello: "echo hi" }),
      args: ["hello", "--silent"],
      stdout: "hi --silent\n",
      stderr: "$ echo hi --silent\n",
    },
  ],
  [
    "is printed in colour with FORCE_COLOR",
    {
      files: scripts({ hello: "echo hi" }),
      args: ["hello"],
      env: { FORCE_COLOR: "1" },
      stdout: "hi\n",
      stderr: /\x1b\[0;35m\$\x1b\[0m \x1b\[2m\x1b\[1mecho hi\x1b\[0m/,
    },
  ],
  [
    "is printed without colour with NO_COLOR, even with FORCE_COLOR",
    {
      files: scripts({ hello: "echo hi" }),
      args: ["hello"],
      env: { FORCE_COLOR: "1", NO_COLOR: "1" },
      stdout: "hi\n",
      stderr: "$ echo hi\n",
    },
  ],
  [
    "runs in the directory of its package.json",
    {
      files: { ...scripts({ where: "pwd" }), "a/b/x": "" },
      in: "a/b",
      args: ["--silent", "where"],
      stdout: "$PROJECT\n",
    },
  ],
  [
    "of the nearest package.json runs",
    {
      files: { ...scripts({ where: "echo outer" }), "a/package.json": { scripts: { where: "echo inner" } } },
      in: "a",
      args: ["--silent", "where"],
      stdout: "inner\n",
    },
  ],
  [
    "of a parent package.json is not found",
    {
      files: { ...scripts({ where: "echo outer" }), "a/package.json": {} },
      in: "a",
      args: ["run", "where"],
      status: 1,
      stderr:
        'error: Script not found "where"\nhint: package.json has no scripts; `rt x where` runs the package of that name\n',
    },
  ],
  [
    "may have any name",
    {
      files: scripts({
        "a b": "echo spaced",
        日本: "echo unicode",
        "foo.js": "echo dotted",
        "build:all": "echo colon",
      }),
      args: ["--silent", "run", "日本"],
      stdout: "unicode\n",
    },
  ],
  [
    "with a space in its name runs",
    { files: scripts({ "a b": "echo spaced" }), args: ["--silent", "a b"], stdout: "spaced\n" },
  ],
  [
    "with the name of an inherited property runs",
    {
      files: scripts({ constructor: "echo mine", __proto__: "x" }),
      args: ["--silent", "constructor"],
      stdout: "mine\n",
    },
  ],
  [
    "with the name of an inherited property is not found if it does not exist",
    { files: scripts({}), args: ["toString"], status: 1, stderr: /^error: Script not found "toString"\n/ },
  ],
  [
    "may be in a package.json with comments, trailing commas and a byte order mark",
    {
      files: { "package.json": '\uFEFF// c\n{ "scripts": { /* d */ "x1": "echo ok", }, }\n' },
      args: ["--silent", "x1"],
      stdout: "ok\n",
    },
  ],
  [
    "with shell syntax runs in bash",
    {
      files: scripts({
        go: "a=(1 2 3); [[ ${a[1]} == 2 ]] && echo ${a[@]:1} | cat; echo $0 | sed s,.*/,,; exit 4",
      }),
      args: ["--silent", "go"],
      stdout: "2 3\nbash\n",
      status: 4,
    },
  ],
  [
    "with --shell rt runs in the built-in shell",
    {
      files: scripts({ go: "echo $RT_X && echo a > out.txt && cat out.txt; exit 6" }),
      env: { RT_X: "var" },
      args: ["--silent", "--shell", "rt", "run", "go"],
      stdout: "var\na\n",
      status: 6,
    },
  ],
  [
    "gets arguments with --shell=rt",
    {
      files: scripts({ go: "echo" }),
      args: ["--silent", "--shell=rt", "go", "a  b", "$HOME", "*", "'\""],
      stdout: "a  b $HOME * '\"\n",
    },
  ],
  [
    "runs with hooks with --shell rt",
    {
      files: scripts({ prego: "echo pre", go: "echo go", postgo: "echo post" }),
      args: ["--silent", "--shell", "rt", "go"],
      stdout: "pre\ngo\npost\n",
    },
  ],
  [
    "runs with --shell system",
    { files: scripts({ go: "echo sys" }), args: ["--silent", "--shell", "system", "go"], stdout: "sys\n" },
  ],
  [
    "with a NUL character is an error",
    {
      files: scripts({ go: "echo half && \0echo whole" }),
      args: ["run", "go"],
      status: 1,
      stderr: 'error: The script "go" contains a NUL character, which is not possible in a command\n',
    },
  ],
  ...[{ name: "a\0b" }, { config: { "a\0b": "x" } }, { config: { a: ["x\0y"] } }].map((manifest): Row => [
    `whose package has a NUL character in ${JSON.stringify(manifest)} is an error`,
    {
      files: { "package.json": { ...manifest, scripts: { go: "env" } } },
      args: ["run", "go"],
      status: 1,
      stderr: /^error: The variable npm_package_\S+ would contain a NUL character, .*\nhint: .*\n$/,
    },
  ]),
  [
    "runs in the system's shell when PATH contains none",
    {
      files: scripts({ go: "echo $X here" }),
      env: { PATH: ABSENT },
      args: ["--silent", "go"],
      stdout: "here\n",
    },
  ],
  [
    "reads standard input",
    {
      files: scripts({ up: "tr a-z A-Z" }),
      args: ["--silent", "up"],
      stdin: "some text\n",
      stdout: "SOME TEXT\n",
    },
  ],
  [
    "reads standard input after a pre-hook that did not",
    {
      files: scripts({ preup: "true", up: "tr a-z A-Z", postup: "true" }),
      args: ["--silent", "up"],
      stdin: "some text\n",
      stdout: "SOME TEXT\n",
    },
  ],
  [
    "shares standard input with its hooks",
    {
      files: scripts({ pretake: "head -c 2", take: "cat" }),
      args: ["--silent", "take"],
      stdin: "abcd",
      stdout: "abcd",
    },
  ],
  [
    "writes to both streams",
    {
      files: scripts({ both: "echo out; echo err >&2; echo out again" }),
      args: ["--silent", "both"],
      stdout: "out\nout again\n",
      stderr: "err\n",
    },
  ],
  [
    "finds rt on PATH",
    {
      files: {
        ...scripts({ go: "rt x.ts a" }),
        "x.ts": "console.log(process.argv.slice(2), import.meta.main)",
      },
      args: ["--silent", "go"],
      stdout: '[ "a" ] true\n',
    },
  ],
  [
    "may call another script",
    {
      files: scripts({ a: "rt --silent run b", b: "echo $npm_lifecycle_event" }),
      args: ["--silent", "run", "a"],
      stdout: "b\n",
    },
  ],
]);

// Node.js leaves non-blocking pipes and terminals to its parent process.
test.skipIf(process.platform === "win32")(
  "a long command is printed once when standard error does not block",
  async () => {
    const command = `: ${"x".repeat(100_000)}`;
    await using project = await createProject({ "package.json": { scripts: { long: command } } });
    const pipe = project.join("pipe");
    Bun.spawnSync(["mkfifo", pipe]);
    const end = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    // The starting process makes only the three standard streams blocking.
    const child = Bun.spawn(["sh", "-c", 'exec "$0" run long 2>&3', RT], {
      cwd: project.path,
      stdio: ["ignore", "ignore", "ignore", end],
    });
    const reader = Bun.spawn(["cat", pipe], { stdout: "pipe" });
    expect(await child.exited).toBe(0);
    closeSync(end);
    expect((await new Response(reader.stdout).text()) === `$ ${command}\n`).toBe(true);
  },
);
