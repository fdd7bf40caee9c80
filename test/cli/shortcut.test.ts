// The shortcuts for `rt <file>` and `rt run <script>` make the same plans as the complete command line, or none.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { COMMANDS } from "../../src/options/commands.ts";
import { OPTIONS } from "../../src/options/options.ts";
import { collectOptions, mentionsOption, parseCommandLine } from "../../src/options/parse.ts";
import { engineReason } from "../../src/runner/file/engine-reason.ts";
import { planRun, type ExecutionPlan } from "../../src/runner/plan.ts";
import { resolveTarget } from "../../src/runner/resolve/resolution.ts";
import { planScriptShortcut } from "../../src/runner/fast-path/script-shortcut.ts";
import { planShortcut } from "../../src/runner/fast-path/file-shortcut.ts";
import { readSettings } from "../../src/config/settings/settings.ts";
import { planInputShortcut } from "../../src/runner/fast-path/input-shortcut.ts";
import { createProject, type Project } from "../support/project.ts";
import { expectRt } from "../support/rt.ts";

const FILES = {
  "package.json": {
    scripts: { dev: "true", "script.ts": "true", test: "true", "a:b/c": "true", "x y": "true", empty: "" },
  },
  "a.ts": "",
  "b.js": "",
  "c.mjs": "",
  "d.cts": "",
  "E.TSX": "",
  "script.ts": "",
  "a b.ts": "",
  "é.ts": "",
  "data.json": "{}",
  "page.html": "",
  "m.wasm": "",
  "x.ts/index.ts": "",
  "test.ts": "",
  "run.ts": "",
  "sub/a.ts": "",
  "app/index.ts": "",
  "-dash.ts": "",
  "no-extension": "",
};
const NAMES = [
  ...Object.keys(FILES),
  "./a.ts",
  "./sub/../a.ts",
  "sub/a.ts",
  "./sub",
  "app",
  "./app",
  ".",
  "./no-extension",
  "missing.ts",
  "dev",
  "a:b/c",
  "x y",
  "empty",
  "./dev",
  "constructor",
  "test",
  "run",
  "-",
  "--",
  "--smol",
  "",
  "a",
  "./a",
  "a.ts.map",
  "x.ts",
];
const REST = [[], ["x"], ["--", "y"], ["--smol"], ["a", "--", "b"], ["--"], [""]];

/** Plans a command line as src/cli/command-line.ts does. */
async function planWhole(words: readonly string[], cwd: string): Promise<ExecutionPlan | undefined> {
  try {
    const invocation = parseCommandLine(words, mentionsOption(words) ? OPTIONS : []);
    if (invocation.target === undefined || (invocation.command !== undefined && invocation.command !== "run"))
      return undefined;
    const target = resolveTarget({
      name: invocation.target,
      cwd,
      explicitRun: invocation.command === "run",
      forceRuntime: false,
    });
    return planRun(readSettings(invocation, collectOptions(invocation.options), {}), target, {
      engineReason: target.kind === "file" ? await engineReason(target.path, cwd) : undefined,
    });
  } catch {
    return undefined;
  }
}

const start = process.cwd();
const projects: Project[] = [];

beforeAll(async () => {
  projects.push(
    await createProject(FILES),
    await createProject({ ...FILES, "tsconfig.json": { compilerOptions: { experimentalDecorators: true } } }),
  );
});

afterAll(async () => {
  process.chdir(start);
  for (const project of projects) await project[Symbol.asyncDispose]();
});

test("planShortcut() plans every plain file, and agrees with planRun()", async () => {
  let taken = 0;
  for (const project of projects) {
    process.chdir(project.path);
    for (const name of [...NAMES, project.join("a.ts")]) {
      for (const rest of REST) {
        const quick = await planShortcut(["rt", "rt", name, ...rest], "rt");
        const whole = await planWhole([name, ...rest], project.path);
        if (quick)
          expect<object>({ name, rest, plan: quick }).toEqual({
            name,
            rest,
            plan: whole,
          });
        else
          expect({
            name,
            rest,
            mode:
              whole?.mode === "in-process" && /\.(?:[cm]?[jt]s|[jt]sx)$/i.test(name) && !name.startsWith("-"),
          }).toEqual({ name, rest, mode: false });
        taken += quick ? 1 : 0;
      }
    }
  }
  expect(taken).toBeGreaterThan(80);
});

test("planShortcut() agrees with planRun() after switches, and plans no other options", async () => {
  process.chdir(projects[0]!.path);
  const taken: string[] = [];
  for (const { name, short } of OPTIONS) {
    for (const option of [`--${name}`, `--${name}=x`, ...(short ? [`-${short}`] : [])]) {
      const words = [option, "a.ts", "--smol", "x"];
      const quick = await planShortcut(["rt", "rt", ...words], "rt");
      if (!quick) continue;
      taken.push(option);
      expect(quick as ExecutionPlan).toEqual((await planWhole(words, projects[0]!.path))!);
    }
  }
  expect(taken.length).toBeGreaterThan(20);
  for (const option of ["--smol", "--inspect", "--inspect-brk", "--inspect-wait"])
    expect(taken).toContain(option);
  for (const left of ["--watch", "--hot", "--silent", "--eval", "--interactive"])
    expect(taken).not.toContain(left);
  for (const address of [
    "0",
    "9000",
    "65535",
    "65536",
    "99999",
    "",
    "localhost:9000",
    "localhost:70000",
    "x:0x10",
  ]) {
    for (const option of ["inspect", "inspect-brk", "inspect-wait"]) {
      const words = [`--${option}=${address}`, "a.ts", "x"];
      const quick = await planShortcut(["rt", "rt", ...words], "rt");
      if (quick)
        expect(quick as ExecutionPlan | undefined).toEqual(await planWhole(words, projects[0]!.path));
      expect([address, quick !== undefined]).toEqual([address, /^(?:localhost:)?(?:0|9000)$/.test(address)]);
    }
  }
  const words = ["--smol", "--expose-gc", "./a.ts", "--", "y"];
  expect((await planShortcut(["rt", "rt", ...words], "rt")) as ExecutionPlan | undefined).toEqual(
    await planWhole(words, projects[0]!.path),
  );
  expect(await planShortcut(["rt", "rt", "--smol"], "rt")).toBeUndefined();
});

test.each([true, false])("planScriptShortcut() agrees with planRun() (with run: %p)", async (explicitRun) => {
  let taken = 0;
  for (const project of projects) {
    process.chdir(project.path);
    for (const name of NAMES) {
      if (!explicitRun && name in COMMANDS) continue; // command-line.ts does not call it for commands
      for (const rest of REST) {
        const quick = planScriptShortcut([name, ...rest], explicitRun) as ExecutionPlan | undefined;
        const whole = await planWhole([...(explicitRun ? ["run"] : []), name, ...rest], project.path);
        const plan = whole?.mode === "script" ? whole : undefined;
        expect({ name, rest, plan: quick }).toEqual({ name, rest, plan });
        taken += quick ? 1 : 0;
      }
    }
  }
  expect(taken).toBeGreaterThan(40);
});

test("planInputShortcut() plans code on standard input as planRun() does", async () => {
  for (const project of projects) {
    for (const words of REST.flatMap((rest) => [
      ["-", ...rest],
      ["run", "-", ...rest],
    ])) {
      const whole = await planWhole(words, project.path);
      expect(planInputShortcut(words) as ExecutionPlan).toEqual(whole!);
    }
  }
});

test("code on standard input runs after the preloads of rtfig.toml", async () => {
  const files = { ...FILES, "rtfig.toml": 'preload = ["./first.ts"]', "first.ts": "console.log(1)" };
  for (const args of [["-"], ["run", "-", "x"]])
    await expectRt({ files, args, stdin: "console.log(2)", stdout: "1\n2\n" });
});

test("planScriptShortcut() plans nothing when there is an rtfig.toml", async () => {
  await using project = await createProject({ ...FILES, "rtfig.toml": "" });
  process.chdir(project.path);
  expect(planScriptShortcut(["dev"], true)).toBeUndefined();
});

test.each(["node", "/usr/bin/node"])(
  "planShortcut() plans nothing when the program is called %s",
  async (argv0) => {
    process.chdir(projects[0]!.path);
    expect(await planShortcut(["rt", "rt", "a.ts"], argv0)).toBeUndefined();
  },
);
