// The command line as people meet it: help, lists, versions, and every kind of mistake in one clear line.
import { describe, expect, test } from "bun:test";
import { version } from "../../package.json";
import { createProject } from "../support/project.ts";
import { expectRt, runRt, type Transcript } from "../support/rt.ts";

type Row = readonly [name: string, transcript: Transcript];

const each = (title: string, rows: readonly Row[]) => {
  describe.concurrent(title, () => {
    for (const [name, transcript] of rows) test(name, () => expectRt(transcript), 30_000);
  });
};

const manifest = (scripts: Record<string, unknown>, more: object = {}) => ({
  "package.json": { scripts, ...more },
});

each("the list of scripts", [
  [
    "has names, commands and a count, in the order of the file",
    {
      files: manifest({ zeta: "echo z", build: "tsc && vite", prebuild: "rm -rf dist" }),
      args: ["run"],
      stdout:
        "package.json scripts (3 found):\n  $ rt run zeta\n    echo z\n\n  $ rt run build\n    tsc && vite\n\n  $ rt run prebuild\n    rm -rf dist\n",
    },
  ],
  [
    "leaves out what cannot run",
    {
      files: manifest({ a: "", b: 5, c: null, d: "echo d" }),
      args: ["run"],
      stdout: "package.json scripts (1 found):\n  $ rt run d\n    echo d\n",
    },
  ],
  [
    "may be empty",
    { files: { "package.json": {} }, args: ["run"], stdout: "package.json scripts (0 found):\n" },
  ],
  [
    "is of the nearest package.json above",
    {
      files: { ...manifest({ a: "echo a" }), "x/y/z": "" },
      in: "x/y",
      args: ["run"],
      stdout: "package.json scripts (1 found):\n  $ rt run a\n    echo a\n",
    },
  ],
  [
    "is of the directory of --cwd",
    {
      files: { "x/package.json": { scripts: { a: "echo a" } } },
      args: ["--cwd", "x", "run"],
      stdout: "package.json scripts (1 found):\n  $ rt run a\n    echo a\n",
    },
  ],
  [
    "with an option in front",
    {
      files: manifest({ a: "echo a" }),
      args: ["--silent", "run"],
      stdout: /^package.json scripts \(1 found\):\n/,
    },
  ],
]);

each("help and versions", [
  ["--version", { args: ["--version"], stdout: `${version}\n` }],
  ["-v", { args: ["-v"], stdout: `${version}\n` }],
  ["--version wins over a target", { args: ["--version", "x.ts"], stdout: `${version}\n` }],
  [
    "--help",
    {
      args: ["--help"],
      stdout: /rt \[options\] <file\|script>[\s\S]*\n  secrets .*\n[\s\S]*rt help run lists the options/,
    },
  ],
  ["-h", { args: ["-h"], stdout: /\n  run  / }],
  ["no words at all", { args: [], stdout: /\n  run  / }],
  ["help", { args: ["help"], stdout: /\n  run  / }],
  ["help run", { args: ["help", "run"], stdout: /-F, --filter=<pattern>|--filter/ }],
  ["run --help", { args: ["run", "--help"], stdout: /--console-depth[\s\S]*\(default: 2\)/ }],
  ["--help run", { args: ["--help", "run"], stdout: /--console-depth/ }],
  ["help x", { args: ["help", "x"], stdout: /rt x <binary> \[args\]/ }],
  ["help types", { args: ["help", "types"], stdout: /rt types/ }],
  [
    "help of what is no command",
    {
      args: ["help", "instal"],
      status: 1,
      stderr: 'error: No help for "instal"\nhint: did you mean install?\n',
    },
  ],
  [
    "help in no colour when it is not for a terminal",
    { args: ["help", "run"], env: { FORCE_COLOR: "1" }, stdout: /^[^\x1b]*$/ },
  ],
]);

each("built-in commands and scripts of the same name", [
  [
    "the command runs, and the script is pointed at",
    {
      files: manifest({ exec: "echo script" }),
      args: ["exec", "echo built-in"],
      stdout: "built-in\n",
      stderr: 'hint: this is rt\'s own "exec"; the script of that name runs with: rt run exec\n',
    },
  ],
  [
    "the script runs with run",
    {
      files: manifest({ exec: "echo script", types: "echo types" }),
      args: ["--silent", "run", "types"],
      stdout: "types\n",
    },
  ],
  [
    "the command runs without options that it would not get",
    {
      files: manifest({ exec: "echo script" }),
      args: ["--filter", "*", "exec", "echo built-in"],
      status: 1,
      stderr:
        'error: --filter is an option of rt run, and "exec" is a command of rt\nhint: the script is run by: rt run --filter ... exec; options of the command stand behind it\n',
    },
  ],
  [
    "a command of rt alone as well",
    {
      args: ["--parallel", "types"],
      status: 1,
      stderr: /^error: --parallel is an option of rt run, and "types" is a command of rt\n/,
    },
  ],
  [
    "an option of the engine reaches the command",
    { files: { "x.ts": "" }, args: ["--no-install", "exec", "echo built-in"], stdout: "built-in\n" },
  ],
  [
    "without such a script there is nothing to say",
    { files: manifest({}), args: ["exec", "echo built-in"], stdout: "built-in\n" },
  ],
  [
    "a script called like a property of every object",
    { files: manifest({ toString: "echo mine" }), args: ["--silent", "toString"], stdout: "mine\n" },
  ],
]);

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);

each("a mistake", [
  [
    "an unknown option",
    {
      args: ["--wach", "x.ts"],
      status: 1,
      stderr: 'error: Unknown option "--wach"\nhint: did you mean --watch?\n',
    },
  ],
  [
    "an unknown option after run",
    {
      args: ["run", "--sillent", "x"],
      status: 1,
      stderr: 'error: Unknown option "--sillent"\nhint: did you mean --silent?\n',
    },
  ],
  [
    "an unknown option that is near nothing",
    {
      args: ["--qqqqqqqq", "x"],
      status: 1,
      stderr: 'error: Unknown option "--qqqqqqqq"\nhint: rt help run lists the options\n',
    },
  ],
  [
    "an unknown short option",
    { args: ["-Z"], status: 1, stderr: /^error: Unknown option "-Z"\nhint: .+\n$/ },
  ],
  [
    "a value that is missing",
    {
      args: ["--preload"],
      status: 1,
      stderr: "error: --preload needs a value\nhint: write it as --preload=<module>\n",
    },
  ],
  [
    "a value that is not among the choices",
    {
      args: ["--shell", "fish", "x"],
      status: 1,
      stderr: 'error: --shell cannot be "fish"\nhint: use one of: rt, system\n',
    },
  ],
  [
    "a value that is no number",
    {
      args: ["--console-depth=x", "x.ts"],
      status: 1,
      stderr: 'error: --console-depth needs a whole number, not "x"\nhint: for example --console-depth=2\n',
    },
  ],
  [
    "a value for a switch",
    {
      args: ["--smol=yes", "x.ts"],
      status: 1,
      stderr: "error: --smol takes no value\nhint: write it as --smol\n",
    },
  ],
  [
    "options and nothing to run",
    {
      args: ["--smol"],
      status: 1,
      stderr: "error: Nothing to run\nhint: name a file or a script after the options\n",
    },
  ],
  [
    "a directory for --cwd that is not there",
    {
      args: ["--cwd", "/nonexistent", "run"],
      status: 1,
      stderr: 'error: Cannot work in "/nonexistent"\nhint: --cwd needs a directory that exists\n',
    },
  ],
  [
    "a file that is missing",
    { args: ["missing.ts"], status: 1, stderr: 'error: Module not found "missing.ts"\n' },
  ],
  [
    "a file that is missing, with run",
    { args: ["run", "missing.ts"], status: 1, stderr: 'error: Module not found "missing.ts"\n' },
  ],
  [
    "a path that is missing",
    { args: ["./missing"], status: 1, stderr: 'error: Module not found "./missing"\n' },
  ],
  [
    "an absolute path that is missing",
    { args: ["/nonexistent/x.ts"], status: 1, stderr: 'error: Module not found "/nonexistent/x.ts"\n' },
  ],
  [
    "a file that is missing, with options of the engine",
    { args: ["--smol", "missing.ts"], status: 1, stderr: 'error: Module not found "missing.ts"\n' },
  ],
  [
    "a script that is missing",
    {
      files: manifest({ build: "true" }),
      args: ["run", "biuld"],
      status: 1,
      stderr: 'error: Script not found "biuld"\nhint: did you mean "build"?\n',
    },
  ],
  [
    "a script that is missing, without run",
    {
      files: manifest({ build: "true" }),
      args: ["biuld"],
      status: 1,
      stderr: 'error: Script not found "biuld"\nhint: did you mean "build"?\n',
    },
  ],
  [
    "a command that is mistyped",
    {
      files: manifest({ dev: "true" }),
      args: ["isntall"],
      status: 1,
      stderr: 'error: Script not found "isntall"\nhint: did you mean "install"?\n',
    },
  ],
  [
    "a mistyped command behind run, where there are none",
    {
      files: manifest({ dev: "true" }),
      args: ["run", "isntall"],
      status: 1,
      stderr: 'error: Script not found "isntall"\nhint: `rt run` lists the scripts\n',
    },
  ],
  [
    "a package's binary that is mistyped",
    {
      files: { ...manifest({ dev: "true" }), "node_modules/.bin/eslint": "" },
      args: ["run", "elsint"],
      status: 1,
      stderr: 'error: Script not found "elsint"\nhint: did you mean "eslint"?\n',
    },
  ],
  [
    "a script near nothing",
    {
      files: manifest({ build: "true" }),
      args: ["run", "qqqqqqq"],
      status: 1,
      stderr: 'error: Script not found "qqqqqqq"\nhint: `rt run` lists the scripts\n',
    },
  ],
  [
    "a script where there are none",
    {
      files: { "package.json": {} },
      args: ["run", "qqqqqqq"],
      status: 1,
      stderr: 'error: Script not found "qqqqqqq"\nhint: there are no scripts in package.json\n',
    },
  ],
  [
    "empty standard input",
    {
      args: ["run", "-"],
      stdin: "",
      status: 1,
      stderr: "error: Standard input is empty\nhint: write code to it, as in: rt run - < file\n",
    },
  ],
  [
    "empty standard input, without run",
    { args: ["-"], stdin: "", status: 1, stderr: /^error: Standard input is empty\n/ },
  ],
  ["no standard input", { args: ["run", "-"], status: 1, stderr: /^error: Standard input is empty\n/ }],
  [
    "a syntax error",
    {
      files: { "s.ts": "const a = ;\n" },
      args: ["s.ts"],
      status: 1,
      stderr: /^1 \| const a = ;\n +\^\nerror: Unexpected ;\n    at .*\/s\.ts:1:11\n/,
    },
  ],
  [
    "a directory",
    {
      files: { "d/x": "" },
      args: ["./d"],
      status: 1,
      stderr: 'error: Cannot run "./d"\nhint: it is a directory without an index file or a main of its own\n',
    },
  ],
  [
    "a directory with run",
    { files: { "d/x": "" }, args: ["run", "./d"], status: 1, stderr: /^error: Cannot run ".\/d"\n/ },
  ],
  [
    "a binary file",
    {
      files: { "photo.png": PNG },
      args: ["./photo.png"],
      status: 1,
      stderr: 'error: Cannot run "$PROJECT/photo.png"\nhint: it is a binary file, not source code\n',
    },
  ],
  [
    "a binary file named without a path",
    {
      files: { "photo.png": PNG },
      args: ["photo.png"],
      status: 1,
      stderr: 'error: Cannot run "$PROJECT/photo.png"\nhint: it is a binary file, not source code\n',
    },
  ],
  [
    "a shell script that is not executable",
    {
      files: { "s.sh": "#!/bin/bash\necho\n" },
      args: ["./s.sh"],
      status: 1,
      stderr:
        /^error: Cannot run ".*s\.sh"\nhint: it is a program, but not marked executable \(chmod \+x\)\n$/,
    },
  ],
  ...["json", "jsonc", "yaml", "yml", "toml", "txt", "css", "md"].flatMap((extension): Row[] =>
    [[`x.${extension}`], [`./x.${extension}`], ["run", `x.${extension}`], ["--smol", `x.${extension}`]].map(
      (args) => [
        `data: ${args.join(" ")}`,
        {
          files: { [`x.${extension}`]: "" },
          args,
          status: 1,
          stderr: /^error: Cannot run ".*\/x\.\w+"\nhint: rt cannot run \w+ files directly\n$/,
        },
      ],
    ),
  ),
  [
    "a script named like a data file runs",
    {
      files: { ...manifest({ "x.json": "echo script" }), "x.json": "" },
      args: ["--silent", "run", "x.json"],
      stdout: "script\n",
    },
  ],
  [
    "no package.json for the list",
    { args: ["run"], status: 1, stderr: /^error: No package\.json here or above\nhint: .+\n$/ },
  ],
  [
    "code for -e that is missing",
    { args: ["-e"], status: 1, stderr: "error: --eval needs a value\nhint: write it as --eval=<code>\n" },
  ],
  ["code for -e that is empty is no mistake", { args: ["-e", ""] }],
  ["code for -p that is empty is undefined", { args: ["-p", ""], stdout: "undefined\n" }],
  [
    "code piped to -, without run, with arguments",
    {
      args: ["-", "a"],
      stdin: "console.log(process.argv.slice(1), import.meta.main)",
      stdout: '[ "-", "a" ] true\n',
    },
  ],
]);

const MALFORMED: ReadonlyArray<readonly [text: string, line: number, column: number]> = [
  ['{ "scripts": { "go": "true" }', 1, 30],
  ['{\n  "scripts": {\n    "go" "true"\n  }\n}\n', 3, 10],
  ['{\n  "a": 1\n  "b": 2\n}\n', 3, 3],
  ["[1, 2]", 1, 1],
  ['"text"', 1, 1],
  ["{ a: 1 }", 1, 3],
  ["not json at all", 1, 1],
  ['{ "a": "open\n" }', 1, 8],
];

describe.concurrent("a malformed package.json", () => {
  test.each(MALFORMED)(
    "%j is pointed at: line %i",
    async (text, line, column) => {
      await using project = await createProject({ "package.json": text, "x.ts": "console.log('ran')" });
      for (const args of [["run", "go"], ["go"], ["run"], ["--silent", "run", "go"]]) {
        const { stdout, stderr, status } = await runRt({ args, cwd: project.path });
        expect({ args, stdout, status, lines: stderr.split("\n").length }).toEqual({
          args,
          stdout: "",
          status: 1,
          lines: 2,
        });
        expect(stderr).toStartWith(`error: Cannot read ${project.path}/package.json:${line}:`);
        expect(Math.abs(Number(/:(\d+): /.exec(stderr)?.[1]) - column)).toBeLessThanOrEqual(1);
      }
    },
    30_000,
  );

  test("a directory in its place is named", async () => {
    await expectRt({
      files: { "package.json/x": "" },
      args: ["run", "go"],
      status: 1,
      stderr: "error: Cannot read $PROJECT/package.json: it is a directory\n",
    });
  });

  test("an empty one is named", async () => {
    await expectRt({
      files: { "package.json": "" },
      args: ["run", "go"],
      status: 1,
      stderr: /^error: Cannot read .*package\.json:1:1: .+\n$/,
    });
  });
});
