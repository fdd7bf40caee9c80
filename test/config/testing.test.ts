// Keys of rtfig.toml for `rt test`.
import { describe, expect } from "bun:test";
import { createProject, type Files } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { effect } from "./effects.ts";

interface Run {
  output: string;
  status: number | string;
  read(name: string): Promise<string>;
}

/** Runs `rt test` in a project with this [test] section; `use` checks the result before the project is removed. */
async function withTests<T>(
  section: string,
  files: Files,
  use: (run: Run) => T | Promise<T>,
  args: readonly string[] = [],
): Promise<T> {
  await using project = await createProject({
    "package.json": {},
    "rtfig.toml": `[test]\n${section}\n`,
    ...files,
  });
  const { stdout, stderr, status } = await runRt({ args: ["test", ...args], cwd: project.path });
  const read = async (name: string) => await Bun.file(project.join(name)).text();
  return await use({ output: stdout + stderr, status, read });
}

const passing = 'import { test } from "bun:test"; test("passes", () => {});';
const covered = {
  "lib.ts": "export function used() { return 1; }\nexport function unused() {\n  return 2;\n}\n",
  "other.ts": "export const other = 1;\n",
  "a.test.ts":
    'import { test } from "bun:test"; import { used } from "./lib.ts"; import { other } from "./other.ts"; test("t", () => { used(); other; });',
};

describe("rt test", () => {
  effect("test.root", "is the directory of the tests", async () => {
    const files = { "one/a.test.ts": passing, "two/b.test.ts": passing };
    await withTests('root = "one"', files, ({ output }) =>
      expect([output.includes("a.test.ts"), output.includes("b.test.ts")]).toEqual([true, false]),
    );
  });

  effect("test.preload", "imports modules before each file, with rt available", async () => {
    const files = {
      "setup.ts": 'import { secrets } from "rt"; console.log("set up", typeof secrets.get);',
      "a.test.ts": passing,
    };
    for (const value of ['"./setup.ts"', '["./setup.ts"]'])
      await withTests(`preload = ${value}`, files, ({ output }) =>
        expect(output).toContain("set up function"),
      );
  });

  effect("test.smol", "is accepted; the engine behaves the same", async () => {
    await withTests("smol = true", { "a.test.ts": passing }, ({ status }) => expect(status).toBe(0));
    await withTests("smol = 1", { "a.test.ts": passing }, ({ status }) => expect(status).toBe(1));
  });

  effect("test.pathIgnorePatterns", "excludes files", async () => {
    const files = { "a.test.ts": passing, "vendor/b.test.ts": passing };
    await withTests('pathIgnorePatterns = ["vendor/**"]', files, ({ output }) =>
      expect([output.includes("a.test.ts"), output.includes("b.test.ts")]).toEqual([true, false]),
    );
  });

  effect("test.coverage", "reports coverage", async () => {
    await withTests("coverage = true", covered, ({ output }) => expect(output).toContain("% Lines"));
    await withTests("coverage = false", covered, ({ output }) => expect(output).not.toContain("% Lines"));
  });
  effect("test.coverage", "covers only the project's own files", async () => {
    const section = 'coverage = true\ncoverageReporter = ["text", "lcov"]';
    await withTests(section, covered, async ({ output, read }) => {
      expect(output.match(/^ \S+(?= +\|)/gm)).toEqual([" lib.ts", " other.ts"]);
      expect((await read("coverage/lcov.info")).match(/(?<=SF:).{1,20}/g)).toEqual(["lib.ts", "other.ts"]);
    });
  });
  effect("test.coverageThreshold", "fails below it", async () => {
    await withTests("coverage = true\ncoverageThreshold = 0.99", covered, ({ status }) =>
      expect(status).toBe(1),
    );
    await withTests("coverage = true\ncoverageThreshold = 0.1", covered, ({ status }) =>
      expect(status).toBe(0),
    );
  });
  effect("test.coverageThreshold.lines", "fails below it", async () => {
    const section = "coverage = true\n[test.coverageThreshold]\nfunctions = 0.1\nlines = ";
    await withTests(`${section}0.99`, covered, ({ status }) => expect(status).toBe(1));
    await withTests(`${section}0.1`, covered, ({ status }) => expect(status).toBe(0));
  });
  effect("test.coverageThreshold.functions", "fails below it", async () => {
    const section = "coverage = true\n[test.coverageThreshold]\nlines = 0.1\nfunctions = ";
    await withTests(`${section}0.99`, covered, ({ status }) => expect(status).toBe(1));
    await withTests(`${section}0.1`, covered, ({ status }) => expect(status).toBe(0));
  });
  effect(
    "test.coverageThreshold.statements",
    "is accepted; the engine does not count statements",
    async () => {
      const section = "coverage = true\n[test.coverageThreshold]\nstatements = 0.99";
      await withTests(section, covered, ({ output }) => expect(output).toContain("% Lines"));
    },
  );
  effect("test.coverageSkipTestFiles", "excludes test files from the report", async () => {
    await withTests("coverage = true\ncoverageSkipTestFiles = false", covered, ({ output }) =>
      expect(output).toMatch(/a\.test\.ts\s+\|/),
    );
    await withTests("coverage = true\ncoverageSkipTestFiles = true", covered, ({ output }) =>
      expect(output).not.toMatch(/a\.test\.ts\s+\|/),
    );
  });
  effect("test.coverageIgnoreSourcemaps", "counts the lines of transpiled code", async () => {
    const files = {
      ...covered,
      "lib.ts":
        "interface A {\n  a: 1;\n}\n\n\n\nexport function used() { return 1; }\nexport function unused() {\n  return 2;\n}\n",
    };
    const lines = async (value: boolean) =>
      await withTests(
        `coverage = true\ncoverageIgnoreSourcemaps = ${value}`,
        files,
        ({ output }) => /lib\.ts.*/.exec(output)![0],
      );
    expect(await lines(true)).not.toBe(await lines(false));
  });
  effect("test.coveragePathIgnorePatterns", "excludes files from the report", async () => {
    const section = 'coverage = true\ncoveragePathIgnorePatterns = ["other.ts"]';
    await withTests(section, covered, ({ output }) =>
      expect([/lib\.ts\s+\|/.test(output), /other\.ts\s+\|/.test(output)]).toEqual([true, false]),
    );
  });
  effect("test.coverageReporter", "writes a file to coverageDir", async () => {
    await withTests('coverage = true\ncoverageReporter = ["lcov"]', covered, async ({ read }) =>
      expect(await read("coverage/lcov.info")).toContain("lib.ts"),
    );
  });
  effect("test.coverageDir", "is the directory of coverage files", async () => {
    await withTests(
      'coverage = true\ncoverageReporter = "lcov"\ncoverageDir = "out"',
      covered,
      async ({ read }) => expect(await read("out/lcov.info")).toContain("lib.ts"),
    );
  });

  const ordered = {
    "a.test.ts": `import { test } from "bun:test"; ${Array.from({ length: 12 }, (_, i) => `test("t", () => console.log("n${i}"));`).join("")}`,
  };
  const order = async (section: string) =>
    await withTests(section, ordered, ({ output }) => output.match(/n\d+/g)!.join());
  effect("test.randomize", "changes the order", async () => {
    const straight = Array.from({ length: 12 }, (_, i) => `n${i}`).join();
    expect(await order("randomize = false")).toBe(straight);
    expect(await order("randomize = true\nseed = 7")).not.toBe(straight);
  });
  effect("test.seed", "fixes the order", async () => {
    expect(await order("randomize = true\nseed = 7")).toBe(await order("randomize = true\nseed = 7"));
    expect(await order("randomize = true\nseed = 7")).not.toBe(await order("randomize = true\nseed = 8"));
  });
  effect("test.rerunEach", "runs each file repeatedly", async () => {
    const files = { "a.test.ts": 'import { test } from "bun:test"; test("t", () => console.log("ran"));' };
    await withTests("rerunEach = 3", files, ({ output }) => expect(output.match(/^ran$/gm)?.length).toBe(3));
  });
  effect("test.retry", "repeats a failed test", async () => {
    const files = {
      "a.test.ts":
        'import { test } from "bun:test"; let n = 0; test("t", () => { if (n++ < 2) throw new Error("flaky") });',
    };
    await withTests("retry = 2", files, ({ status }) => expect(status).toBe(0));
    await withTests("retry = 1", files, ({ status }) => expect(status).toBe(1));
  });
  effect("test.concurrentTestGlob", "runs the tests of matching files concurrently", async () => {
    const meet =
      'import { test } from "bun:test"; const p = Promise.withResolvers(); const q = Promise.withResolvers(); test("a", async () => { p.resolve(); await q.promise; }, 300); test("b", async () => { q.resolve(); await p.promise; }, 300);';
    await withTests('concurrentTestGlob = "**/meet.test.ts"', { "meet.test.ts": meet }, ({ status }) =>
      expect(status).toBe(0),
    );
    await withTests('concurrentTestGlob = ["**/none.test.ts"]', { "meet.test.ts": meet }, ({ status }) =>
      expect(status).toBe(1),
    );
  });
  effect("test.onlyFailures", "prints only failed tests", async () => {
    const files = {
      "a.test.ts":
        'import { test } from "bun:test"; test("fine", () => {}); test("broken", () => { throw 1 });',
    };
    await withTests("onlyFailures = true", files, ({ output }) =>
      expect([output.includes("(pass) fine"), output.includes("(fail) broken")]).toEqual([false, true]),
    );
  });
  effect("test.reporter.dots", "prints a dot for each test", async () => {
    await withTests("[test.reporter]\ndots = true", { "a.test.ts": passing }, ({ output }) =>
      expect([output.includes("(pass)"), /^\.+$/m.test(Bun.stripANSI(output))]).toEqual([false, true]),
    );
  });
  effect("test.reporter.junit", "writes a report", async () => {
    await withTests('[test.reporter]\njunit = "junit.xml"', { "a.test.ts": passing }, async ({ read }) =>
      expect(await read("junit.xml")).toContain("<testsuites"),
    );
  });
});
