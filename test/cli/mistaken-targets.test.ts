// Targets that do not exist or cannot run: one error line and a suggestion.
import { type Row, testTranscripts } from "../support/transcripts.ts";
import { findProgram } from "../../build/system-programs.ts";
import { packageWith } from "../support/workspace.ts";

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);

const SCRIPTS = { build: "true", bash: "true" };
const WORKSPACE = {
  "package.json": { workspaces: ["packages/*"] },
  "packages/a/package.json": { name: "a b", scripts: { ...SCRIPTS, serve: "true" } },
  "packages/b/package.json": { name: "b", scripts: SCRIPTS },
};

testTranscripts("a mistake", [
  ["a missing file", { args: ["missing.ts"], status: 1, stderr: 'error: Module not found "missing.ts"\n' }],
  [
    "a missing file, with run",
    { args: ["run", "missing.ts"], status: 1, stderr: 'error: Module not found "missing.ts"\n' },
  ],
  ["a missing path", { args: ["./missing"], status: 1, stderr: 'error: Module not found "./missing"\n' }],
  [
    "a path with a long name, as code that lacks -e",
    {
      args: [`./${"x".repeat(240)}`],
      status: 1,
      stderr: `error: Module not found "./${"x".repeat(198)}..."\n`,
    },
  ],
  [
    "a missing absolute path",
    { args: ["$PROJECT/absent/x.ts"], status: 1, stderr: 'error: Module not found "$PROJECT/absent/x.ts"\n' },
  ],
  [
    "a missing file, with options of the engine",
    { args: ["--smol", "missing.ts"], status: 1, stderr: 'error: Module not found "missing.ts"\n' },
  ],
  [
    "a missing script",
    {
      files: packageWith({ build: "true" }),
      args: ["run", "biuld"],
      status: 1,
      stderr: 'error: Script not found "biuld"\nhint: did you mean "build"?\n',
    },
  ],
  [
    "a missing script that other packages of the workspace have",
    {
      files: WORKSPACE,
      args: ["run", "build"],
      status: 1,
      stderr: 'error: Script not found "build"\nhint: other packages have it: rt run --workspaces build\n',
    },
  ],
  [
    "a missing script that one other package of the workspace has",
    {
      files: WORKSPACE,
      args: ["run", "serve"],
      status: 1,
      stderr: `error: Script not found "serve"\nhint: other packages have it: rt run --filter 'a b' serve\n`,
    },
  ],
  [
    "a script of packages that is a program in the root of the workspace",
    {
      files: WORKSPACE,
      args: ["run", "bash", "-c", "exit 3"],
      status: 3,
      stderr:
        `warning: The workspace root has no script "bash", so rt runs the program ${findProgram("bash")}\n` +
        "hint: run the script of the packages: rt run --workspaces bash\n",
    },
  ],
  [
    "a program in the root of a workspace whose packages lack a script of that name",
    { files: WORKSPACE, args: ["run", "true"], status: 0, stderr: "" },
  ],
  [
    "a command after --",
    {
      files: packageWith({ build: "true" }),
      args: ["--", "run", "build"],
      status: 1,
      stderr: `error: Script not found "run"\nhint: did you mean the command rt run? remove the --\n`,
    },
  ],
  [
    "a missing script, without run",
    {
      files: packageWith({ build: "true" }),
      args: ["biuld"],
      status: 1,
      stderr: 'error: Script not found "biuld"\nhint: did you mean "build"?\n',
    },
  ],
  [
    "a mistyped command",
    {
      files: packageWith({ dev: "true" }),
      args: ["isntall"],
      status: 1,
      stderr: 'error: Script not found "isntall"\nhint: did you mean "install"?\n',
    },
  ],
  [
    "a mistyped command after run, which has no commands",
    {
      files: packageWith({ dev: "true" }),
      args: ["run", "isntall"],
      status: 1,
      stderr: 'error: Script not found "isntall"\nhint: `rt run` lists the scripts\n',
    },
  ],
  [
    "a mistyped package binary",
    {
      files: { ...packageWith({ dev: "true" }), "node_modules/.bin/eslint": "" },
      args: ["run", "elsint"],
      status: 1,
      stderr: 'error: Script not found "elsint"\nhint: did you mean "eslint"?\n',
    },
  ],
  [
    "a script without a similar name",
    {
      files: packageWith({ build: "true" }),
      args: ["run", "qqqqqqq"],
      status: 1,
      stderr:
        'error: Script not found "qqqqqqq"\nhint: `rt run` lists the scripts; `rt x qqqqqqq` runs the package of that name\n',
    },
  ],
  [
    "a package of a scope, without run",
    {
      files: packageWith({ build: "true" }),
      args: ["@qqq/qqqqqqq"],
      status: 1,
      stderr: /not found "@qqq\/qqqqqqq"\nhint: .*; `rt x @qqq\/qqqqqqq` runs the package of that name\n$/,
    },
  ],
  [
    "a package that is not installed yet",
    {
      files: { "package.json": { devDependencies: { "qqq-tool": "*" }, scripts: { build: "true" } } },
      args: ["run", "qqq-tool"],
      status: 1,
      stderr:
        'error: Script not found "qqq-tool"\nhint: package.json names the package "qqq-tool"; `rt install` installs it\n',
    },
  ],
  [
    "a usual name of a script that is not a package",
    {
      files: packageWith({ qqqqqqq: "true" }),
      args: ["run", "deploy"],
      status: 1,
      stderr: 'error: Script not found "deploy"\nhint: `rt run` lists the scripts\n',
    },
  ],
  [
    "a word that cannot be a package name",
    {
      files: packageWith({ build: "true" }),
      args: ["run", "q:q`q"],
      status: 1,
      stderr: 'error: Script not found "q:q`q"\nhint: `rt run` lists the scripts\n',
    },
  ],
  [
    "a script when package.json has none",
    {
      files: { "package.json": {} },
      args: ["run", "qqqqqqq"],
      status: 1,
      stderr:
        'error: Script not found "qqqqqqq"\nhint: package.json has no scripts; `rt x qqqqqqq` runs the package of that name\n',
    },
  ],
  [
    "a script without a package.json",
    {
      args: ["run", "qqqqqqq"],
      status: 1,
      stderr:
        'error: Script not found "qqqqqqq"\nhint: no package.json in this folder or above; `rt x qqqqqqq` runs the package of that name\n',
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
      stderr: 'error: Cannot run "./d"\nhint: it is a directory without an index file or "main"\n',
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
      files: { ...packageWith({ "x.json": "echo script" }), "x.json": "" },
      args: ["--silent", "run", "x.json"],
      stdout: "script\n",
    },
  ],
  [
    "no package.json for the list",
    {
      args: ["run"],
      status: 1,
      stderr: /^error: No package\.json in this folder or its parents\nhint: .+\n$/,
    },
  ],
]);
