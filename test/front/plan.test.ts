// Compares the front's plans (platform/native/linux/front) with those of TypeScript: the same engine words, or a doubt.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { frontLists } from "../../build/executable/front.ts";
import { readToolLine, withPreloads } from "../../src/config/settings/tool.ts";
import { openSettings } from "../../src/config/settings/settings-sources.ts";
import { OPTIONS } from "../../src/options/options.ts";
import { mentionsOption, parseCommandLine } from "../../src/options/parse.ts";
import { planInputShortcut } from "../../src/runner/fast-path/input-shortcut.ts";
import { planShortcut } from "../../src/runner/fast-path/file-shortcut.ts";
import { type ExecutionPlan, planRun, planTool } from "../../src/runner/plan.ts";
import { resolveTarget } from "../../src/runner/resolve/resolution.ts";
import { describeRevision, VERSION } from "../../src/version.ts";
import { createProject, type Project } from "../support/project.ts";
import { createRandom } from "../support/random.ts";
import { REPOSITORY } from "../support/rt.ts";
import {
  type FrontPlan,
  makePlanProgram,
  PRELOAD,
  type PlanProgram,
  type Surroundings,
} from "./plan-program.ts";

const FILES = {
  "package.json": { scripts: { dev: "true", "a.ts": "true" } },
  "a.ts": "",
  "b.js": "",
  "E.TSX": "",
  "a b.ts": "",
  "é.ts": "",
  "q?x.ts": "",
  "h#x.ts": "",
  "x.ts/index.ts": "",
  "sub/a.ts": "",
  "sub/package.json": {},
  "data.json": "{}",
  "page.html": "",
  "m.wasm": "",
  ".ts": "",
  none: "",
  "closed/a.ts": "",
};

/** Milliseconds; thousands of programs start. */
const LONG = 600_000;
/** Random command lines; `npm run test:fuzz` tries the most. */
const COUNT = Math.min(10_000, Number(process.env.RT_FUZZ ?? 300));
const SEED = Number(process.env.RT_FUZZ_SEED ?? 1);

const start = process.cwd();
let front: PlanProgram;
let project: Project;
let engineCommand: typeof import("../../src/runner/engine/engine.ts").engineCommand;

beforeAll(async () => {
  Bun.plugin({
    name: "preloads",
    setup(build) {
      for (const name of ["rt:preload", "rt:option-preload", "rt:parts"])
        build.module(name, () => ({ exports: { default: PRELOAD }, loader: "object" }));
    },
  });
  ({ engineCommand } = await import("../../src/runner/engine/engine.ts"));
  front = await makePlanProgram();
  project = await createProject(FILES);
  symlinkSync("a.ts", project.join("link.ts"));
  symlinkSync("sub", project.join("linked"));
});

afterAll(async () => {
  process.chdir(start);
  await project[Symbol.asyncDispose]();
  await front[Symbol.asyncDispose]();
});

function argvOf(plan: ExecutionPlan): readonly string[] {
  if (plan.mode !== "engine") throw new Error(`Not a plan for the engine: ${plan.mode}`);
  return plan.argv;
}

/** Decides as main.ts does. Returns undefined unless rt becomes the engine or prints the version. */
async function planInTypeScript(words: readonly string[], cwd: string): Promise<FrontPlan | undefined> {
  process.chdir(cwd);
  const engine = (argv: readonly string[]): FrontPlan => {
    const command = engineCommand(argv, true, { name: "rt" });
    expect(Object.keys(command.environment).toSorted()).toEqual(["RT_BECAME", "RT_SUPERVISED"]);
    return { mode: "engine", words: command.argv, line: "" };
  };
  const quick = words[0] === "run" ? undefined : await planShortcut(["rt", "rt", ...words], "rt");
  if (quick) return quick.mode === "engine" ? engine(quick.argv) : undefined;
  const target = words[0] === "run" ? words[1] : words[0];
  if (target === "-") return engine(planInputShortcut(words).argv);
  try {
    const invocation = parseCommandLine(words, mentionsOption(words) ? OPTIONS : []);
    if (invocation.asksFor === "version") return { mode: "print", words: [], line: `${VERSION}\n` };
    if (invocation.asksFor === "revision")
      return { mode: "print", words: [], line: `${describeRevision()}\n` };
    if (invocation.command === "test" && invocation.options.length === 0) {
      const { tool, config } = readToolLine(invocation);
      if (config !== undefined) return undefined;
      const { name, words: rest } = withPreloads(tool, undefined);
      const { settings } = await openSettings(invocation);
      return engine(argvOf(planTool(name, rest, settings.code)));
    }
    if (invocation.command !== undefined && invocation.command !== "run") return undefined;
    const { settings, config } = await openSettings(invocation);
    if (config || settings.many || settings.watch || settings.secrets.length > 0) return undefined;
    const found =
      settings.evaluates || settings.target === undefined
        ? ({ kind: "none" } as const)
        : resolveTarget({
            name: settings.target,
            cwd,
            explicitRun: settings.isExplicit,
            forceRuntime: settings.code.forceRuntime,
          });
    const plan = planRun(settings, found);
    const isPlain = !settings.code.isHelped && !settings.code.isWatched && !settings.code.port;
    return plan.mode === "engine" && isPlain ? engine(plan.argv) : undefined;
  } catch (error) {
    if (!/Error$/.test((error as Error).name)) throw error;
    return undefined;
  }
}

/** The script "test" of package.json has started rt, so `rt test` prints no hint about it. */
const IN_SCRIPT = { env: { npm_lifecycle_event: "test" } };

async function compare(words: readonly string[], cwd = project.path): Promise<boolean> {
  const plan = front.plan(["rt", ...words], cwd, IN_SCRIPT);
  if (plan.mode === "doubt") return false;
  expect({ words, plan }).toEqual({ words, plan: (await planInTypeScript(words, cwd))! });
  return true;
}

const OPTION_WORDS = [
  ...OPTIONS.flatMap(({ name, short, other }) => [
    `--${name}`,
    `--${name}=x`,
    ...[short, other].flatMap((each) => (each === undefined ? [] : [`-${each}`])),
  ]),
  ...["-e1", "-e=1", "-", "--", "--unknown", "", "run", "test", "x"],
];
const TARGETS = [
  ...Object.keys(FILES),
  ...[
    "./a.ts",
    "././a.ts",
    "./sub/../a.ts",
    "linked/a.ts",
    "link.ts",
    "absent.ts",
    "../a.ts",
    ".",
    "sub//a.ts",
  ],
  ...["-", "--", "dev", "test", "1 + 1", "", "--smol"],
];
const REST = [
  [],
  ["x"],
  ["--", "y"],
  ["--smol"],
  ["--check", "--", "-"],
  ["-"],
  ["--"],
  [""],
  ["--inspect"],
  ["-z"],
];

describe.skipIf(process.platform !== "linux")("the front's plan is TypeScript's or a doubt", () => {
  test(
    "for every option in front of a file, of code and of standard input",
    async () => {
      let certain = 0;
      for (const option of OPTION_WORDS)
        for (const words of [
          [option, "a.ts"],
          ["run", option, "-", "--smol", "y"],
          ["--smol", option, "1", "x"],
        ])
          certain += (await compare(words)) ? 1 : 0;
      expect(certain).toBeGreaterThan(80);
    },
    LONG,
  );

  test(
    "for every kind of target with every kind of arguments",
    async () => {
      let certain = 0;
      for (const target of [...TARGETS, project.join("a.ts"), project.join("linked/a.ts")])
        for (const rest of REST)
          for (const before of [["run"], ["--smol"], ["--expose-gc", "-e"], ["test"]])
            certain += (await compare([...before, target, ...rest])) ? 1 : 0;
      expect(certain).toBeGreaterThan(300);
    },
    LONG,
  );

  test(
    "for random command lines",
    async () => {
      const random = createRandom(SEED);
      const pools = [OPTION_WORDS, TARGETS, REST.flat(), ["run", "test", "-e", "-p", "--smol", "-"]];
      let certain = 0;
      for (let round = 0; round < COUNT; round += 1) {
        const words = Array.from({ length: 1 + random.below(5) }, () => random.pick(random.pick(pools)));
        certain += (await compare(words, random.pick([project.path, project.join("sub"), "/"]))) ? 1 : 0;
      }
      expect(certain).toBeGreaterThan(COUNT / 20);
    },
    LONG,
  );

  test("for a start in a directory below the project, and in the root directory", async () => {
    for (const cwd of [project.join("sub"), "/"])
      for (const words of [
        ["-e", "1"],
        ["--smol", "a.ts"],
        ["--smol", "../a.ts"],
        ["-"],
        ["test"],
        ["test", "x"],
      ])
        await compare(words, cwd);
    expect(await compare(["-e", "1"], "/")).toBe(true);
  });
});

describe.skipIf(process.platform !== "linux")("the front is certain of", () => {
  test.each([
    [["--version"]],
    [["-v"]],
    [["--revision"]],
    [["-"]],
    [["-", "--", "a"]],
    [["run", "-", "--smol"]],
    [["--smol", "-", "x"]],
    [["-e", "1"]],
    [["-e", ""]],
    [["-e", "1", "--smol", "--", "-x"]],
    [["--eval", "1", "-"]],
    [["run", "-p", "1"]],
    [["-pe", "1"]],
    [["--smol", "a.ts"]],
    [["--smol", "./sub/a.ts", "--", "é"]],
    [["--smol", "E.TSX"]],
    [["--smol", "a b.ts"]],
    [["test"]],
    [["test", "--bail", "a", "--", "b"]],
  ])("%j", async (words) => {
    expect(await compare(words)).toBe(true);
  });

  test("an absolute path of a source file", async () => {
    expect(await compare(["--smol", project.join("a.ts")])).toBe(true);
  });
});

const isDoubted = (words: readonly string[], more: Surroundings = {}, cwd = project.path) =>
  expect({ words, mode: front.plan(words, cwd, more).mode }).toEqual({ words, mode: "doubt" });

describe.skipIf(process.platform !== "linux")("the front leaves to TypeScript", () => {
  test("a start under another name", () => {
    for (const name of ["node", "bunx", "git-credential-rt", "/bin/node", "rt-traced", "rt.exe", "rt2", ""])
      isDoubted([name, "-e", "1"]);
    expect(front.plan(["/any/rt", "-e", "1"], project.path).words[0]).toBe("/any/rt");
  });

  test("files and scripts, and words that mention the debugger", () => {
    for (const words of [["a.ts"], ["dev"], ["run", "dev"], ["run", "a.ts"], ["run"], [], ["--smol"], ["-e"]])
      isDoubted(["rt", ...words]);
    for (const words of [
      ["-e", "--inspect"],
      ["-", "--inspect-brk=1"],
      ["--inspect", "a.ts"],
      ["test", "--inspect"],
    ])
      isDoubted(["rt", ...words]);
  });

  test.each([
    "BUN_BE_BUN=0",
    "BUN_OPTIONS=",
    "BUN_INSPECT=x",
    "BUN_INSPECT_CONNECT_TO=x",
    "BUN_INSPECT_PRELOAD=x",
    "RT_BECAME=1",
    "RT_SUPERVISED=1",
    "RT_DEBUG=plan",
    "VSCODE_INSPECTOR_OPTIONS={}",
    "RT_FRONT=off",
  ])("every start with %s", (entry) => {
    const [name, value] = entry.split("=") as [string, string];
    for (const words of [["-e", "1"], ["-"], ["--smol", "a.ts"], ["test"], ["--version"]])
      isDoubted(["rt", ...words], { env: { [name]: value } });
    for (const other of [`X${name}`, `${name}X`.replace("BUN_INSPECT", "bun_inspect")])
      if (!other.startsWith("BUN_INSPECT") && other !== "RT_FRONTX")
        expect(front.plan(["rt", "-e", "1"], project.path, { env: { [other]: value } }).mode).toBe("engine");
  });

  test("standard input that is empty or closed", () => {
    for (const stdin of ["empty", "closed"] as const) {
      isDoubted(["rt", "-"], { stdin });
      isDoubted(["rt", "--smol", "-"], { stdin });
    }
  });

  test("words that are not UTF-8", () => {
    const shell = (word: string) => {
      const line = `exec "$0" "$@" "$(printf '${word}')"`;
      return front.plan(["rt", "-e", "1"], project.path, { by: ["sh", "-c", line] }).mode;
    };
    expect(shell("\\303\\251")).toBe("engine");
    for (const word of [
      "\\351",
      "\\355\\240\\200",
      "\\300\\200",
      "\\364\\220\\200\\200",
      "\\357\\273\\277x",
      "\\303",
    ])
      expect({ word, mode: shell(word) }).toEqual({ word, mode: "doubt" });
  });

  test("a directory with rtfig.toml, and code below one with caching or tasks", async () => {
    await using other = await createProject({
      "rtfig.toml": "",
      "in/a.ts": "",
      "cached/rtfig.toml": `# ${"x".repeat(5000)}\n[run.cache]\n`,
      "cached/in/a.ts": "",
      // The word is on both sides of the boundary between two reads of 4 KiB.
      "tasks/rtfig.toml": `#${"x".repeat(4092)}\n[tasks.a]\n`,
      "tasks/in/a.ts": "",
    });
    for (const words of [["-e", "1"], ["-"], ["--smol", "in/a.ts"], ["test"]])
      isDoubted(["rt", ...words], {}, other.path);
    expect(await compare(["-e", "1"], other.join("in"))).toBe(true);
    for (const folder of ["cached/in", "tasks/in"]) {
      isDoubted(["rt", "-e", "1"], {}, other.join(folder));
      isDoubted(["rt", "--smol", "-"], {}, other.join(folder));
      expect(await compare(["--smol", "a.ts"], other.join(folder))).toBe(true);
      expect(await compare(["-"], other.join(folder))).toBe(true);
    }
  });

  test("an absolute path beside a tsconfig.json, which may map it", async () => {
    await using other = await createProject({ "tsconfig.json": {}, "in/a.ts": "" });
    isDoubted(["rt", "--smol", other.join("in/a.ts")]);
    expect(await compare(["--smol", "in/a.ts"], other.path)).toBe(true);
  });

  test("a file in a directory that cannot be listed", () => {
    if (process.getuid!() === 0) return; // root can list every directory
    chmodSync(project.join("closed"), 0o311);
    isDoubted(["rt", "--smol", "closed/a.ts"]);
    chmodSync(project.join("closed"), 0o755);
  });

  test("rt test without a memo that it prints no hint", () => {
    isDoubted(["rt", "test"]);
    expect(front.plan(["rt", "test"], project.path, IN_SCRIPT).mode).toBe("engine");
  });
});

test("the lists of the front have the names and the order of its C source", () => {
  const source = readFileSync(join(REPOSITORY, "platform/native/linux/front/tables.h"), "utf8");
  const rows = source.slice(source.indexOf("enum list {"), source.indexOf("COUNT_OF_LISTS"));
  expect([...rows.matchAll(/^ {2}([A-Z_]+),/gm)].map(([, name]) => name!)).toEqual(
    Object.keys(frontLists("")),
  );
});
