// The short cut of `rt <file>` must be the plan that the whole command line would make, or none.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { OPTIONS } from "../../src/cli/options.ts";
import { mentionsOption, parseCommandLine } from "../../src/cli/parse.ts";
import { engineReason } from "../../src/run/entry.ts";
import { planRun, type Plan } from "../../src/run/plan.ts";
import { resolveTarget } from "../../src/run/resolve.ts";
import { planShortcut } from "../../src/run/shortcut.ts";
import { createProject, type Project } from "../support/project.ts";

const FILES = {
  "package.json": { scripts: { dev: "true", "script.ts": "true" } },
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

/** What src/cli/command-line.ts does for a line, up to the plan. */
function planWhole(words: readonly string[], cwd: string): Plan | undefined {
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
    return planRun(invocation, target, {
      engineReason: target.kind === "file" ? engineReason(target.path, cwd) : undefined,
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

test("planShortcut() agrees with planRun() wherever it answers, and answers for every plain file", () => {
  let taken = 0;
  for (const project of projects) {
    process.chdir(project.path);
    for (const name of [...NAMES, project.join("a.ts")]) {
      for (const rest of REST) {
        const quick = planShortcut(["rt", "rt", name, ...rest], "rt");
        const whole = planWhole([name, ...rest], project.path);
        if (quick)
          expect({ name, rest, plan: quick as Plan | undefined }).toEqual({ name, rest, plan: whole });
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

test.each(["node", "/usr/bin/node"])("there is no short cut for a program called %s", (argv0) => {
  process.chdir(projects[0]!.path);
  expect(planShortcut(["rt", "rt", "a.ts"], argv0)).toBeUndefined();
});
