// Messages of the engine's tools name rt's commands: help, headings and hints, in files and in colours.
import { describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { COMMANDS } from "../../src/options/commands.ts";
import { createProject, type Files } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";
import { packageWith } from "../support/workspace.ts";

const TOOLS = Object.keys(COMMANDS).filter((name) => COMMANDS[name]!.by === "engine");

/** Matches a command that begins with the engine's name; not a value of --target, nor "built with bun!". */
const NAMES_ENGINE = /(?<![\w./=-])bunx?[ \x1b](?!Bake|or |v\d|runtime|executable)\S+/g;

/** Aliases of remove and update that rt does not have. */
const LEFT = ["bun r", "bun up"];

async function engineNamesIn(args: readonly string[], color: boolean): Promise<readonly string[]> {
  const { stdout, stderr } = await runRt({ args, env: color ? { FORCE_COLOR: "1" } : {} });
  const text = Bun.stripANSI(stdout + stderr);
  expect(text).not.toBe("");
  return [...text.matchAll(NAMES_ENGINE)].map(([name]) => name).filter((name) => !LEFT.includes(name));
}

async function runIn(args: readonly string[], files: Files = {}) {
  await using project = await createProject(files);
  return await runRt({ args, cwd: project.path });
}

describe.concurrent("the help of an engine tool", () => {
  for (const name of TOOLS) {
    for (const color of [false, true])
      test(`rt ${name} --help${color ? ", in colours," : ""} names rt`, async () => {
        expect(await engineNamesIn([name, "--help"], color)).toEqual([]);
      });
  }
});

describe.concurrent("the heading of an engine tool", () => {
  const files = packageWith({});
  for (const [args, heading] of [
    [["install"], "rt install  v"],
    [["remove", "absent"], "rt remove  v"],
    [["pm", "trust"], "rt pm trust  v"],
    [["test"], "rt test  v"],
    [["prune"], "rt prune  v"],
  ] as const)
    test(args.join(" "), async () => {
      const { stdout, stderr } = await runIn(args, files);
      expect(stdout + stderr).toStartWith(heading);
    });
});

test.each([
  [["exec", "absent-command"], ""],
  [["--silent", "--shell=rt", "run", "s"], ""],
])("rt %p names rt when a command is not found", async (args, stdout) => {
  const result = await runIn(args, { "package.json": { scripts: { s: "absent-command" } } });
  expect(result).toMatchObject({ stdout, stderr: "rt: command not found: absent-command \n" });
});

describe.concurrent("a hint", () => {
  for (const [name, args, hint, files] of [
    ["where nothing is installed", ["pm", "ls"], "rt install", packageWith({})],
    ["for an option that is not there", ["pm", "ls", "--absent"], "Run 'rt  pm --help'", {}],
    [
      "for a package that is not there",
      ["build", "a.ts"],
      'need to "rt install "?',
      { "a.ts": 'import "x"' },
    ],
    [
      "for a test outside of the runner",
      ["a.ts"],
      'Run "rt test"  to run',
      { "a.ts": 'import "bun:test"; import { test } from "bun:test"; test("a", () => {});' },
    ],
  ] as const)
    test(name, async () => {
      const { stdout, stderr } = await runIn(args, files);
      expect(stdout + stderr).toContain(hint);
      expect(stdout + stderr).not.toMatch(/\bbun (?:install|test|pm)\b/);
    });
});

describe("the engine patch does not change", () => {
  test("the tool's name in a report for other programs", async () => {
    await using project = await createProject({
      "a.test.ts": 'import { test } from "bun:test"; test("a", () => {});',
    });
    const args = ["test", "--reporter=junit", "--reporter-outfile=report.xml"];
    expect((await runRt({ args, cwd: project.path })).status).toBe(0);
    expect(await readFile(`${project.path}/report.xml`, "utf8")).toContain('<testsuites name="bun test"');
  });

  test("the script for node-gyp's callers", async () => {
    const program = await readFile(RT);
    expect(program.includes("then\n  bun x --silent node-gyp $@\nelse")).toBe(true);
  });

  test("the spaces in scripts of a created project", async () => {
    await using project = await createProject({});
    await runRt({
      args: ["init", "--react"],
      cwd: project.path,
      env: { npm_config_registry: "http://127.0.0.1:1" },
    });
    const { scripts } = JSON.parse(await readFile(`${project.path}/package.json`, "utf8")) as {
      scripts: Record<string, string>;
    };
    expect(Object.values(scripts).filter((script) => / {2}| $/.test(script))).toEqual([]);
    expect(Object.keys(scripts).length).toBeGreaterThan(0);
  });
});
