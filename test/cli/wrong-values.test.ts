// Values that an option cannot have: one line that says so, a hint where there is one, and nothing has run.
import { describe, test } from "bun:test";
import { expectRt } from "../support/rt.ts";

const FILES = {
  "package.json": { scripts: { hello: "echo hello", number: 5, list: ["echo"] } },
  "main.ts": 'console.log("ran");',
  "folder/kept.txt": "",
};

interface Case {
  readonly args: readonly string[];
  readonly error: string;
  readonly hint?: string;
}

const FILES_HINT =
  "options for many scripts run scripts of package.json, not files; make one that runs the file";
const REPORT_HINT = "--report needs a file in a directory that can be written to";

const CASES: readonly Case[] = [
  {
    args: ["--port=65536", "main.ts"],
    error: '--port needs a whole number from 0 to 65535, not "65536"',
    hint: "for example --port=3000",
  },
  {
    args: ["--port", "-1", "hello"],
    error: '--port needs a whole number from 0 to 65535, not "-1"',
    hint: "for example --port=3000",
  },
  {
    args: ["--console-depth=99999999999999999999", "main.ts"],
    error: '--console-depth needs a whole number, not "99999999999999999999"',
    hint: "for example --console-depth=2",
  },
  {
    args: ["--watch-kill-signal=SIGNONE", "main.ts"],
    error: '--watch-kill-signal cannot be "SIGNONE"',
    hint: "use one of: SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGKILL",
  },
  {
    args: ["--watch", "--watch-kill-signal=SIGUSR2", "run", "hello"],
    error: 'A script cannot be ended with "SIGUSR2"',
    hint: "use one of: SIGTERM, SIGINT, SIGHUP, SIGKILL",
  },
  {
    args: ["--tsconfig-override=none.json", "main.ts"],
    error: 'There is no tsconfig "none.json"',
    hint: "--tsconfig-override needs a file that exists",
  },
  {
    args: ["--inspect=99999", "main.ts"],
    error: '--inspect needs a port, or an address with one, not "99999"',
    hint: "for example --inspect=localhost:9229/path",
  },
  {
    args: ["--inspect-wait=localhost:99999/path", "main.ts"],
    error: '--inspect-wait needs a port, or an address with one, not "localhost:99999/path"',
    hint: "for example --inspect-wait=localhost:9229/path",
  },
  {
    args: ["--inspect=ws://127.0.0.1:99999/path", "main.ts"],
    error: '--inspect needs a port, or an address with one, not "ws://127.0.0.1:99999/path"',
    hint: "for example --inspect=localhost:9229/path",
  },
  {
    args: ["--inspect-brk=localhost:port", "main.ts"],
    error: '--inspect-brk needs a port, or an address with one, not "localhost:port"',
    hint: "for example --inspect-brk=localhost:9229/path",
  },
  { args: ["run", "--report=x.json", "main.ts"], error: 'Script "main.ts" not found', hint: FILES_HINT },
  { args: ["run", "--parallel", "./main.ts"], error: 'Script "./main.ts" not found', hint: FILES_HINT },
  {
    args: ["console.log(1)"],
    error: 'Script not found "console.log(1)"',
    hint: "code is run by: rt -e <code>",
  },
  {
    args: ["run", `${"x".repeat(5000)};`],
    error: `Script not found "${"x".repeat(200)}..."`,
    hint: "code is run by: rt -e <code>",
  },
  {
    args: ["run", "number"],
    error: 'Script not found "number"',
    hint: 'package.json has "number", but not as a string; write the command as a string',
  },
  {
    args: ["list"],
    error: 'Script not found "list"',
    hint: 'package.json has "list", but not as a string; write the command as a string',
  },
];

describe.concurrent("wrong values", () => {
  for (const { args, error, hint } of CASES) {
    test(`rt ${args.join(" ").slice(0, 80)}`, async () => {
      const lines = [`error: ${error}`, ...(hint ? [`hint: ${hint}`] : [])];
      await expectRt({ files: FILES, args, status: 1, stderr: `${lines.join("\n")}\n` });
    });
  }

  for (const value of ["", "folder"]) {
    test(`rt run --report=${value} does not run what it could not report`, async () => {
      await expectRt({
        files: FILES,
        args: ["run", `--report=${value}`, "hello"],
        status: 1,
        stderr: new RegExp(
          `^error: Cannot write the report .*${value}: it is a directory\nhint: ${REPORT_HINT}\n$`,
        ),
      });
    });
  }
});

test("options for many scripts list those of this package when none is named", async () => {
  const files = {
    "package.json": { workspaces: ["a"], scripts: { own: "echo own" } },
    "a/package.json": { name: "a", scripts: { other: "echo other" } },
  };
  const stdout = "package.json scripts (1 found):\n  $ rt run own\n    echo own\n";
  await expectRt({ files, args: ["run", "--parallel"], stdout });
  await expectRt({ files, args: ["run", "--concurrency=2"], stdout });
  await expectRt({
    files,
    args: ["--watch", "run", "--filter", "a"],
    stdout: "a scripts (1 found):\n  $ rt run --filter a other\n    echo other\n",
  });
  await expectRt({
    files,
    args: ["--watch", "--dry-run", "run", "own"],
    stdout: "own\n  $ echo own\n\n1 script would run\n",
  });
  await expectRt({
    files,
    args: ["--sequential"],
    status: 1,
    stderr: "error: Nothing to run\nhint: name a file or a script after the options\n",
  });
});

test("a script of no workspace is named without one in front of its lines", async () => {
  await expectRt({
    files: FILES,
    args: ["run", "--concurrency=1", "hello"],
    stdout: "hello: hello\nhello: Exited with code 0\n",
  });
});
