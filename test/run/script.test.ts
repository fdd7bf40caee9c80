// package.json scripts: what is printed and in which order things run.
import { describe, test } from "bun:test";
import { expectRt, RT, type Transcript } from "../support/rt.ts";

const scripts = (entries: Record<string, unknown>, more: object = {}) => ({
  "package.json": { name: "project", version: "1.2.3", scripts: entries, ...more },
});

type Row = readonly [name: string, transcript: Transcript];

const each = (title: string, rows: readonly Row[]) => {
  describe.concurrent(title, () => {
    for (const [name, transcript] of rows) test(name, () => expectRt(transcript), 30_000);
  });
};

each("a script", [
  [
    "runs and is shown first",
    { files: scripts({ hello: "echo hi" }), args: ["hello"], stdout: "hi\n", stderr: "$ echo hi\n" },
  ],
  [
    "runs with run",
    { files: scripts({ hello: "echo hi" }), args: ["run", "hello"], stdout: "hi\n", stderr: "$ echo hi\n" },
  ],
  [
    "is shown with its arguments",
    {
      files: scripts({ hello: "echo hi" }),
      args: ["hello", "a b", "c", "it's"],
      stdout: "hi a b c it's\n",
      stderr: "$ echo hi 'a b' c 'it'\\''s'\n",
    },
  ],
  [
    "is not shown with --silent",
    { files: scripts({ hello: "echo hi" }), args: ["--silent", "hello"], stdout: "hi\n" },
  ],
  [
    "is not shown with run --silent",
    { files: scripts({ hello: "echo hi" }), args: ["run", "--silent", "hello"], stdout: "hi\n" },
  ],
  [
    "leaves --silent behind its name alone",
    {
      files: scripts({ hello: "echo hi" }),
      args: ["hello", "--silent"],
      stdout: "hi --silent\n",
      stderr: "$ echo hi --silent\n",
    },
  ],
  [
    "is shown in colour when colours are forced",
    {
      files: scripts({ hello: "echo hi" }),
      args: ["hello"],
      env: { FORCE_COLOR: "1" },
      stdout: "hi\n",
      stderr: /\x1b\[0;35m\$\x1b\[0m \x1b\[2m\x1b\[1mecho hi\x1b\[0m/,
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
    "of a nearer package.json is the one",
    {
      files: { ...scripts({ where: "echo outer" }), "a/package.json": { scripts: { where: "echo inner" } } },
      in: "a",
      args: ["--silent", "where"],
      stdout: "inner\n",
    },
  ],
  [
    "of a package.json further up is not looked for",
    {
      files: { ...scripts({ where: "echo outer" }), "a/package.json": {} },
      in: "a",
      args: ["run", "where"],
      status: 1,
      stderr: 'error: Script not found "where"\nhint: there are no scripts in package.json\n',
    },
  ],
  [
    "may be called anything",
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
    "with a space in its name",
    { files: scripts({ "a b": "echo spaced" }), args: ["--silent", "a b"], stdout: "spaced\n" },
  ],
  [
    "named like a property of every object",
    {
      files: scripts({ constructor: "echo mine", __proto__: "x" }),
      args: ["--silent", "constructor"],
      stdout: "mine\n",
    },
  ],
  [
    "that is no property of its own",
    { files: scripts({}), args: ["toString"], status: 1, stderr: /^error: Script not found "toString"\n/ },
  ],
  [
    "is written in a package.json with comments, commas and a byte order mark",
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
    "with --shell=rt and arguments",
    {
      files: scripts({ go: "echo" }),
      args: ["--silent", "--shell=rt", "go", "a  b", "$HOME", "*", "'\""],
      stdout: "a  b $HOME * '\"\n",
    },
  ],
  [
    "with --shell rt and hooks",
    {
      files: scripts({ prego: "echo pre", go: "echo go", postgo: "echo post" }),
      args: ["--silent", "--shell", "rt", "go"],
      stdout: "pre\ngo\npost\n",
    },
  ],
  [
    "with --shell system",
    { files: scripts({ go: "echo sys" }), args: ["--silent", "--shell", "system", "go"], stdout: "sys\n" },
  ],
  [
    "with a NUL character in it is not cut off there",
    {
      files: scripts({ go: "echo half && \0echo whole" }),
      args: ["run", "go"],
      status: 1,
      stderr: 'error: The script "go" has a NUL character in it, which no program can be given\n',
    },
  ],
  [
    "without a shell on PATH finds the system's",
    {
      files: scripts({ go: "echo $X here" }),
      env: { PATH: "/nonexistent" },
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
    "reads standard input after a pre-hook that does not",
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
    "writes to both outputs",
    {
      files: scripts({ both: "echo out; echo err >&2; echo out again" }),
      args: ["--silent", "both"],
      stdout: "out\nout again\n",
      stderr: "err\n",
    },
  ],
  [
    "that calls rt finds it",
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
    "that calls another script",
    {
      files: scripts({ a: "rt --silent run b", b: "echo $npm_lifecycle_event" }),
      args: ["--silent", "run", "a"],
      stdout: "b\n",
    },
  ],
]);

each("hooks", [
  [
    "run before and after",
    {
      files: scripts({ prego: "echo pre", go: "echo go", postgo: "echo post" }),
      args: ["go"],
      stdout: "pre\ngo\npost\n",
      stderr: "$ echo pre\n$ echo go\n$ echo post\n",
    },
  ],
  [
    "a failing pre-hook stops everything",
    {
      files: scripts({ prego: "exit 3", go: "echo go", postgo: "echo post" }),
      args: ["go"],
      status: 3,
      stderr: '$ exit 3\nerror: script "prego" exited with code 3\n',
    },
  ],
  [
    "a failing script skips its post-hook",
    {
      files: scripts({ go: "exit 5", postgo: "echo post" }),
      args: ["go"],
      status: 5,
      stderr: '$ exit 5\nerror: script "go" exited with code 5\n',
    },
  ],
  [
    "a failing post-hook decides the exit code",
    {
      files: scripts({ go: "true", postgo: "exit 7" }),
      args: ["go"],
      status: 7,
      stderr: "$ true\n$ exit 7\n",
    },
  ],
  [
    "with --silent a failure is silent too",
    { files: scripts({ prego: "exit 3", go: "echo go" }), args: ["--silent", "go"], status: 3 },
  ],
  [
    "empty ones and ones that are no text are passed over",
    { files: scripts({ prego: "", go: "echo go", postgo: 5 }), args: ["--silent", "go"], stdout: "go\n" },
  ],
  [
    "of hooks are not looked for",
    {
      files: scripts({ preprego: "echo no", prego: "echo pre", go: "echo go" }),
      args: ["--silent", "go"],
      stdout: "pre\ngo\n",
    },
  ],
  [
    "run for a script that is called like a hook",
    {
      files: scripts({ preprego: "echo prepre", prego: "echo pre", go: "echo go" }),
      args: ["--silent", "run", "prego"],
      stdout: "prepre\npre\n",
    },
  ],
  [
    "each see their own name",
    {
      files: scripts({
        prego: "echo $npm_lifecycle_event $npm_lifecycle_script",
        go: "echo $npm_lifecycle_event",
        postgo: "echo $npm_lifecycle_event",
      }),
      args: ["--silent", "go"],
      stdout: "prego echo $npm_lifecycle_event $npm_lifecycle_script\ngo\npostgo\n",
    },
  ],
  [
    "a pre-hook that is killed ends the run the same way",
    {
      files: scripts({ prego: "kill -TERM $$", go: "echo go" }),
      args: ["go"],
      status: "SIGTERM",
      stderr: '$ kill -TERM $$\nerror: script "prego" was terminated by signal SIGTERM\n',
    },
  ],
  [
    "a script that is interrupted says nothing",
    {
      files: scripts({ go: "kill -INT $$", postgo: "echo post" }),
      args: ["go"],
      status: "SIGINT",
      stderr: "$ kill -INT $$\n",
    },
  ],
]);

describe.concurrent("a script that calls itself", () => {
  test("without end is stopped with its name", async () => {
    await expectRt({
      files: scripts({ again: `${RT} --silent run again` }),
      args: ["--silent", "run", "again"],
      status: 1,
      stderr: /^error: The script "again" calls itself without end: again -> again\n$/,
    });
  }, 30_000);

  test("in a folder with a line break in its name as well", async () => {
    await expectRt({
      files: { "a\nb/package.json": { scripts: { again: `${RT} --silent run again` } } },
      in: "a\nb",
      args: ["--silent", "run", "again"],
      status: 1,
      stderr: /^error: The script "again" calls itself without end: again -> again\n$/,
    });
  }, 30_000);

  test("through another script is stopped with both names", async () => {
    await expectRt({
      files: scripts({ one: `${RT} --silent run two`, two: `${RT} --silent run one` }),
      args: ["--silent", "run", "one"],
      status: 1,
      stderr: /calls itself without end: (one -> two -> one|two -> one -> two)\n$/,
    });
  }, 30_000);

  test("a few times is let", async () => {
    await expectRt({
      files: scripts({ down: `[ "$DEPTH" = xxx ] && echo bottom || DEPTH=x$DEPTH ${RT} --silent run down` }),
      args: ["--silent", "run", "down"],
      stdout: "bottom\n",
    });
  }, 30_000);
});
