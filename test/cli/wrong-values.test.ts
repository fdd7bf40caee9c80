// Invalid values of options print one error line and a hint where possible, and nothing runs.
import { describe, test } from "bun:test";
import { LOADERS } from "../../src/options/values.ts";
import { expectRt } from "../support/rt.ts";

const FILES = {
  "package.json": { scripts: { hello: "echo hello", number: 5, list: ["echo"], empty: "" } },
  "main.ts": 'console.log("ran");',
  "folder/kept.txt": "",
};

interface Case {
  readonly args: readonly string[];
  readonly error: string;
  readonly hint?: string;
}

const FILES_HINT =
  "options for several scripts work with package.json scripts, not files; add a script that runs the file";
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
    error: 'No such file: tsconfig "none.json"',
    hint: "pass an existing file to --tsconfig-override",
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
  {
    args: ["--define=1a:2", "main.ts"],
    error: '--define cannot substitute "1a": it is not an identifier',
    hint: "for example --define=VERSION:1",
  },
  {
    args: ["-d", "A", "main.ts"],
    error: '--define needs a name, a colon and a value, not "A"',
    hint: "for example --define=VERSION:1",
  },
  {
    args: ["--define=A:", "main.ts"],
    error: '--define needs a value for "A"',
    hint: "write an empty string as '\"\"'",
  },
  {
    args: ["--define=A:{", "main.ts"],
    error: '--define needs JSON as the value of "A"',
    hint: "for example --define=VERSION:1",
  },
  {
    args: ["--loader=.c:nope", "main.ts"],
    error: '--loader cannot load ".c" with "nope"',
    hint: `use one of: ${LOADERS.join(", ")}`,
  },
  {
    args: ["--loader=:text", "main.ts"],
    error: '--loader needs an extension that begins with a dot, not ""',
    hint: "for example --loader=.svg:text",
  },
  {
    args: ["--loader=text", "main.ts"],
    error: '--loader needs an extension, a colon and a loader, not "text"',
    hint: "for example --loader=.svg:text",
  },
  {
    args: ["--extension-order=ts", "main.ts"],
    error: '--extension-order needs extensions that begin with a dot, not "ts"',
    hint: "for example --extension-order=.tsx,.ts,.jsx,.js,.json",
  },
  {
    args: ["--conditions=,", "main.ts"],
    error: '--conditions needs a name, not ","',
    hint: "write it as --conditions=<name>",
  },
  {
    args: ["--preload=./gone.ts", "main.ts"],
    error: '--preload: Module not found "./gone.ts"',
    hint: "its path is relative to the working directory",
  },
  {
    args: ["--import", "main.ts", "main.ts"],
    error: '--import: Module not found "main.ts"',
    hint: "a file is written as ./main.ts",
  },
  { args: ["run", "--report=x.json", "main.ts"], error: 'Script "main.ts" not found', hint: FILES_HINT },
  { args: ["run", "--parallel", "./main.ts"], error: 'Script "./main.ts" not found', hint: FILES_HINT },
  {
    args: ["console.log(1)"],
    error: 'Script not found "console.log(1)"',
    hint: "to run code: rt -e <code>",
  },
  {
    args: ["run", `${"x".repeat(5000)};`],
    error: `Script not found "${"x".repeat(200)}..."`,
    hint: "to run code: rt -e <code>",
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
  {
    args: ["empty"],
    error: 'Script not found "empty"',
    hint: 'package.json has "empty", but its command is empty',
  },
  { args: ["watch", "main.ts"], error: 'Script not found "watch"', hint: "did you mean the option --watch?" },
];

describe.concurrent("invalid values", () => {
  for (const { args, error, hint } of CASES) {
    test(`rejected: rt ${args.join(" ").slice(0, 80)}`, async () => {
      const lines = [`error: ${error}`, ...(hint ? [`hint: ${hint}`] : [])];
      await expectRt({ files: FILES, args, status: 1, stderr: `${lines.join("\n")}\n` });
    });
  }

  for (const value of ["folder"]) {
    test(`rt run --report=${value} does not run the script when it cannot write the report`, async () => {
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

test("options for several scripts need a script's name, and --filter alone lists the scripts of packages", async () => {
  const files = {
    "package.json": { workspaces: ["a"], scripts: { own: "echo own" } },
    "a/package.json": { name: "a", scripts: { other: "echo other" } },
  };
  for (const option of [
    "parallel",
    "sequential",
    "concurrency=2",
    "affected",
    "dry-run",
    "report=x.json",
    "preload=a",
  ]) {
    const stderr =
      `error: --${option.split("=")[0]} needs the name of a script\n` +
      "hint: list the scripts: rt run, or rt run --workspaces for all packages\n";
    for (const words of [["run"], []])
      await expectRt({ files, args: [...words, `--${option}`], status: 1, stderr });
  }
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
    args: ["--silent"],
    status: 1,
    stderr: "error: No file or script is named\nhint: name a file or a script after the options\n",
  });
});

test("rt run --pick with a script's name fails without a terminal and prints the command that runs the script", async () => {
  await expectRt({
    files: FILES,
    args: ["run", "--pick", "hello"],
    status: 1,
    stderr: "error: --pick needs a terminal\nhint: run the script: rt run hello\n",
  });
});

test("output lines of a script outside of a workspace have no package name as prefix", async () => {
  await expectRt({
    files: FILES,
    args: ["run", "--concurrency=1", "hello"],
    stdout: "hello: hello\nhello: Exited with code 0\n",
  });
});

describe.concurrent("a script name that is the value of an option", () => {
  const files = {
    "package.json": { workspaces: ["a"], scripts: { build: "echo built" } },
    "a/package.json": { name: "a", scripts: { lint: "echo linted" } },
  };
  const cases = [
    ["-r", "build", "preload", "run it in all packages: rt run --workspaces build"],
    ["--require", "build", "require"],
    ["--report", "build", "report"],
    ["--title", "build", "title"],
    ["--cache", "build", "cache"],
    ["--secret", "lint", "secret"],
    ["--env-file", "lint", "env-file"],
  ] as const;
  for (const [flag, name, option, more] of cases) {
    for (const words of [["run"], ["run", "--filter", "a"], ["run", "--pick"], []])
      test(`rt ${[...words, flag, name].join(" ")} fails and names the option`, async () => {
        const hints = [`run the script: rt run ${name}`, ...(more ? [more] : [])];
        await expectRt({
          files,
          args: [...words, flag, name],
          status: 1,
          stderr: [
            `error: No script given: "${name}" is the value of --${option}`,
            ...hints.map((hint) => `hint: ${hint}`),
            "",
          ].join("\n"),
        });
      });
  }
});

test("rt --parallel build prints the command that runs the script of that name", async () => {
  const files = { "package.json": { scripts: { build: "echo built" } } };
  await expectRt({
    files,
    args: ["--parallel", "--report=x y.json", "build"],
    status: 1,
    stderr:
      'error: --parallel is an option of rt run, but "build" is a command of rt\n' +
      "hint: to run a script of that name: rt run --parallel '--report=x y.json' build\n",
  });
});
