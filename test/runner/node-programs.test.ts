// Tests files with a #! line for Node.js. A path means source code, which rt runs. A name means a program, which
// Node.js runs, or rt with --rt.
import { expect, test } from "bun:test";
import { chmod, mkdir, symlink } from "node:fs/promises";
import { findProgram } from "../../build/system-programs.ts";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { type Row, testSilently } from "../support/transcripts.ts";

const PRINT = "console.log(typeof Bun, typeof rt, process.argv.slice(2).join())";
const BY_ENV = `#!/usr/bin/env node\n${PRINT}\n`;
const BY_PATH = `#!/usr/bin/node\n${PRINT}\n`;

testSilently("--rt runs a program for Node.js", [
  ...["node ", "node\t", "node\r", "node  \t"].map((words): Row => [
    `when its first line ends with ${JSON.stringify(words)}`,
    {
      files: { "package.json": {}, "node_modules/.bin/cli": `#!/usr/bin/env ${words}\n${PRINT}\n` },
      executable: ["node_modules/.bin/cli"],
      args: ["--rt", "run", "cli", "a"],
      stdout: "object object a\n",
    },
  ]),
]);

/** The package's import depends on a condition. */
const CONDITION = {
  "package.json": { imports: { "#a": { special: "./special.cjs", default: "./default.cjs" } } },
  "special.cjs": "module.exports = 'special'",
  "default.cjs": "module.exports = 'default'",
  "bin/cli": `#!/usr/bin/env node\nconsole.log(require("#a"), typeof rt, process.argv.slice(2).join())\n`,
};

testSilently("rt runs a file for Node.js by its path", [
  ...["./bin/cli", "$PROJECT/bin/cli", "bin/cli"].flatMap((path): Row[] => [
    [
      path,
      {
        files: { "bin/cli": BY_ENV },
        executable: ["bin/cli"],
        args: [path, "a"],
        stdout: "object object a\n",
      },
    ],
    [
      `run ${path}, with another #! line`,
      {
        files: { "bin/cli": BY_PATH },
        executable: ["bin/cli"],
        args: ["run", path, "a"],
        stdout: "object object a\n",
      },
    ],
  ]),
  [
    "when it is not executable",
    {
      files: { cli: "#!/usr/bin/env -S node --flag\nconsole.log(typeof rt)" },
      args: ["./cli"],
      stdout: "object\n",
    },
  ],
  [
    "when its #! line has Debian's name of Node.js",
    {
      files: { cli: "#!/usr/bin/env nodejs\nconsole.log(typeof rt)" },
      executable: ["cli"],
      args: ["./cli"],
      stdout: "object\n",
    },
  ],
  [
    "with the options before the path",
    {
      files: CONDITION,
      executable: ["bin/cli"],
      args: ["--conditions=special", "./bin/cli", "a"],
      stdout: "special object a\n",
    },
  ],
  [
    "but not a file for a program with a similar name",
    {
      files: { nodes: "#!/bin/sh\necho shell\n", cli: "#!./nodes\n" },
      executable: ["nodes", "cli"],
      args: ["./cli"],
      stdout: "shell\n",
    },
  ],
]);

testSilently("a program that starts itself or another file with rt's path starts rt", [
  [
    "with spawn",
    {
      files: {
        ...CONDITION,
        "a.ts": `import { spawnSync } from "node:child_process";
          for (const words of [["bin/cli"], ["--conditions=special", import.meta.dirname + "/bin/cli"]])
            spawnSync(process.execPath, [...words, "x"], { stdio: "inherit" });`,
      },
      executable: ["bin/cli"],
      args: ["a.ts"],
      stdout: "default object x\nspecial object x\n",
    },
  ],
  [
    "with fork",
    {
      files: {
        ...CONDITION,
        "a.ts": `import { fork } from "node:child_process";
          const cli = import.meta.dirname + "/bin/cli";
          fork(cli, ["x"]).on("close", () => fork(cli, ["y"], { execArgv: ["--conditions=special"] }));`,
      },
      executable: ["bin/cli"],
      args: ["a.ts"],
      stdout: "default object x\nspecial object y\n",
    },
  ],
  [
    "with its own options",
    {
      files: {
        ...CONDITION,
        "a.ts": `import { fork } from "node:child_process"; fork(import.meta.dirname + "/bin/cli", ["x"]);`,
      },
      executable: ["bin/cli"],
      args: ["--conditions=special", "a.ts"],
      stdout: "special object x\n",
    },
  ],
]);

const TOOL = "node_modules/.bin/tool";
const binary = (text: string) => ({
  files: { "package.json": {}, [TOOL]: text },
  executable: [TOOL],
});

testSilently("--rt runs a binary for Node.js", [
  ...[
    BY_ENV,
    BY_PATH,
    `#! /usr/local/bin/node --no-warnings\n${PRINT}\n`,
    BY_ENV.replace("env", "env -S"),
  ].flatMap((text): Row[] => [
    [
      `run --rt: ${text.split("\n")[0]}`,
      { ...binary(text), args: ["run", "--rt", "tool", "--rt"], stdout: "object object --rt\n" },
    ],
    [
      `--rt: ${text.split("\n")[0]}`,
      { ...binary(text), args: ["--rt", "tool", "a"], stdout: "object object a\n" },
    ],
  ]),
  ...[
    ["--rt", "x", "tool"],
    ["x", "--rt", "tool"],
    ["x", "--bun", "tool"],
    ["x", "-b", "tool"],
  ].flatMap((words) =>
    [BY_ENV, BY_PATH].map((text): Row => [
      `${words.join(" ")}: ${text.split("\n")[0]}`,
      { ...binary(text), args: [...words, "--rt", "a"], stdout: "object object --rt,a\n" },
    ]),
  ),
  [
    "with the options of its #! line",
    {
      ...binary(`#!/usr/bin/env -S node --require ./pre.cjs\n${PRINT}\n`),
      files: {
        ...binary(`#!/usr/bin/env -S node --require ./pre.cjs\n${PRINT}\n`).files,
        "pre.cjs": "console.log('pre')",
      },
      args: ["run", "--rt", "tool"],
      stdout: "pre\nobject object \n",
    },
  ],
  [
    "not for x without --rt",
    { ...binary(BY_PATH), args: ["x", "tool", "--rt"], stdout: "undefined undefined --rt\n" },
  ],
  [
    "for node itself",
    { files: { "a.ts": PRINT }, args: ["--rt", "node", "a.ts", "--rt"], stdout: "object object --rt\n" },
  ],
  [
    "for node itself, with run",
    { files: { "a.ts": PRINT }, args: ["run", "--rt", "node", "./a.ts"], stdout: "object object \n" },
  ],
  ["with node's own options", { args: ["--rt", "node", "-p", "typeof rt"], stdout: "object\n" }],
  [
    "unless a script is named node",
    {
      files: { "package.json": { scripts: { node: "echo script" } } },
      args: ["--rt", "node"],
      stdout: "script\n",
    },
  ],
]);

test("`rt run node` is rt when Node.js is not installed", async () => {
  await using project = await createProject({ "a.ts": PRINT });
  await mkdir(project.join("bin"));
  await symlink(findProgram("sh"), project.join("bin/sh"));
  const run = async (...args: string[]) =>
    await runRt({ args, cwd: project.path, env: { PATH: project.join("bin") } });
  expect(await run("run", "node", "a.ts", "x")).toEqual({
    stdout: "object object x\n",
    stderr: "",
    status: 0,
  });
  await project.write({ "bin/node": "#!/bin/sh\necho installed\n" });
  await chmod(project.join("bin/node"), 0o755);
  expect((await run("run", "node", "a.ts")).stdout).toBe("installed\n");
  expect((await run("run", "--rt", "node", "a.ts")).stdout).toBe("object object \n");
});
