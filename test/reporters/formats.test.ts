// Tests `--report` with the other formats, a trace for Perfetto, JUnit XML and a page, and findCriticalPath().
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findCriticalPath } from "../../src/tasks/planning/critical-path.ts";
import { createJUnitReporter } from "../../src/reporters/report-files/junit-reporter.ts";
import type { ScriptTask, TaskRequest } from "../../src/tasks/task.ts";
import { createProject } from "../support/project.ts";
import { createRandom } from "../support/random.ts";
import { expectRt, runRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { cleanEnvironment, RT } from "../support/rt.ts";
import { scripts, workspace } from "../support/workspace.ts";

const EVIL = '"<&>\u0001\u001b[31mred\u202e';
const files = workspace({
  a: scripts(`printf '%s' '${EVIL}\uffff'`),
  b: { scripts: { pret: "true", t: "exit 2" }, dependencies: { a: "*" } },
  c: { ...scripts("true"), dependencies: { b: "*" } },
  d: scripts("kill -TERM $$"),
  [EVIL]: scripts("true"),
});
const FORMATS = ["junit.xml", "my.trace.json", "run.json", "RUN.HTML"];

async function reports(args: readonly string[]) {
  await using project = await createProject(files);
  const options = FORMATS.map((file) => `--report=${file}`);
  const { status } = await runRt({ args: ["run", ...options, "--filter", "*", ...args], cwd: project.path });
  const lint = Bun.spawnSync(
    ["xmllint", "--noout", "--schema", join(import.meta.dir, "junit.xsd"), "junit.xml"],
    {
      cwd: project.path,
    },
  );
  const text = (name: string) => Bun.file(project.join(name)).text();
  return {
    status,
    lint: lint.exitCode === 0 ? "valid" : lint.stderr.toString(),
    junit: await text("junit.xml"),
    trace: JSON.parse(await text("my.trace.json")) as { traceEvents: TraceEvent[] },
    json: JSON.parse(await text("run.json")) as { version: number; tasks: object[] },
    page: await text("RUN.HTML"),
  };
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur: number;
  readonly id: number;
  readonly bp?: string;
  readonly args?: { readonly outcome?: string; readonly name?: string };
}

describe("several reports of one run", () => {
  const written = reports(["t"]);

  test("follow the format of their file names", async () => {
    const { status, json, page } = await written;
    // The first failure decides: the exit code of b, or the signal of d.
    expect<(number | string | null)[]>([2, "SIGTERM"]).toContain(status);
    expect(json.version).toBe(1);
    expect(json.tasks.length).toBe(5);
    expect(page).toStartWith("<!doctype html>");
    const states = [...page.matchAll(/"state":"(\w+)"/g)].map(([, state]) => state);
    expect(states.toSorted()).toEqual(["executed", "executed", "failed", "failed", "skipped"]);
  });

  test("contain valid JUnit XML, which distinguishes failures from errors", async () => {
    const { lint, junit } = await written;
    expect(lint).toBe("valid");
    const facts = junit.replace(/ (?:time|timestamp)="[^"]*"/g, "");
    expect(facts).toContain(
      '<testsuite name="b" tests="1" failures="1" errors="0" skipped="0">\n' +
        '    <testcase name="t" classname="b">\n      <failure message="Exited with code 2" type="failure"/>\n',
    );
    expect(facts).toContain('<error message="Killed by SIGTERM" type="signal"/>');
    expect(facts).toContain('<skipped message="Skipped because b t did not succeed"/>');
    expect(facts).toContain('tests="5" failures="1" errors="1">');
    // Colours are removed, and characters that XML cannot contain are escaped.
    expect(facts).toContain("<system-out>&quot;&lt;&amp;&gt;\\u0001red");
    expect(facts).toContain('name="&quot;&lt;&amp;&gt;\\u0001\\u001b[31mred\\u202e"');
  });

  // Trace event format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
  test("contain a trace that follows the rules of its format", async () => {
    const { traceEvents } = (await written).trace;
    for (const event of traceEvents) {
      expect([typeof event.name, typeof event.pid, typeof event.tid]).toEqual(["string", "number", "number"]);
      expect(["X", "M", "s", "f"]).toContain(event.ph);
      if (event.ph !== "M") expect(Number.isSafeInteger(event.ts) && event.ts >= 0).toBe(true);
      if (event.ph === "X") expect(Number.isSafeInteger(event.dur) && event.dur >= 0).toBe(true);
      if (event.ph === "M") expect(["process_name", "thread_name"]).toContain(event.name);
      if (event.ph === "f") expect(event.bp).toBe("e");
    }
    // Overlapping events of one thread must be nested.
    const lasting = traceEvents.filter(({ ph }) => ph === "X");
    for (const a of lasting)
      for (const b of lasting) {
        if (a === b || a.tid !== b.tid || a.ts > b.ts || a.ts + a.dur <= b.ts) continue;
        const isInside = b.ts + b.dur <= a.ts + a.dur || (a.ts === b.ts && a.dur <= b.dur);
        expect(isInside).toBe(true);
      }
    // Each end of an arrow must be within an event.
    const ends = Map.groupBy(
      traceEvents.filter(({ ph }) => ph === "s" || ph === "f"),
      ({ id }) => id,
    );
    for (const [, pair] of ends) {
      expect(pair.map(({ ph }) => ph)).toEqual(["s", "f"]);
      expect(pair[0]!.ts).toBeLessThanOrEqual(pair[1]!.ts);
      for (const { tid, ts } of pair)
        expect(lasting.some((each) => each.tid === tid && each.ts <= ts && ts <= each.ts + each.dur)).toBe(
          true,
        );
    }
    const eventOf = (name: string) => lasting.find((event) => event.name === name);
    expect(eventOf("a t")?.args?.outcome).toBe("success");
    expect(eventOf("b t")?.args?.outcome).toBe("failure");
    expect(eventOf("c t")).toBeUndefined(); // skipped
    expect(eventOf("pret")!.ts + eventOf("pret")!.dur).toBeLessThanOrEqual(
      eventOf("b t")!.ts + eventOf("b t")!.dur,
    );
    expect([...ends].length).toBe(1);
    const [[begin] = []] = ends.values();
    expect(begin!.ts).toBe(Math.min(eventOf("a t")!.ts + eventOf("a t")!.dur, eventOf("b t")!.ts));
    // The trace has microseconds, the JSON report milliseconds.
    const { tasks } = (await written).json as {
      tasks: { script: string; start: number; duration: number }[];
    };
    const times = lasting.filter(({ name }) => name.endsWith(" t"));
    const starts = (list: readonly number[]) => list.toSorted((a, b) => a - b);
    const known = starts(tasks.filter(({ duration }) => duration > 0).map(({ start }) => start * 1000));
    for (const [index, ts] of starts(times.map(({ ts }) => ts)).entries())
      expect(Math.abs(ts - known[index]!)).toBeLessThanOrEqual(1);
  });
});

test("report formats agree on omitted output, tasks that did not start, and durations", async () => {
  const [first, last] = [100_000, 160_000];
  const commands = { big: `seq ${first} ${last}`, bad: "exit 3 # \u202e", never: "true" };
  await using project = await createProject({ "package.json": { name: "one", scripts: commands } });
  const files = ["junit.xml", "run.json", "run.html", "trace.json"].map((file) => `--report=${file}`);
  const words = ["run", "--sequential", ...files, ...Object.keys(commands)];
  expect((await runRt({ args: words, cwd: project.path })).status).toBe(3);
  const [junit, json, page] = await Promise.all(
    ["junit.xml", "run.json", "run.html"].map((file) => Bun.file(project.join(file)).text()),
  );
  expect(json).not.toContain("\u202e");
  const { tasks } = JSON.parse(json!) as {
    tasks: { start: number; duration: number; steps: { start: number }[] }[];
  };
  expect(tasks[0]!.start).toBeLessThanOrEqual(tasks[0]!.steps[0]!.start);
  expect(junit).toContain(' tests="3" failures="1" errors="0" skipped="1" ');
  expect(junit).toContain('<skipped message="Not started"/>');
  const times = [...junit!.matchAll(/<testcase .* time="([\d.]+)"/g)].map(([, time]) => time);
  expect(times).toEqual(tasks.map(({ duration }) => (duration / 1000).toFixed(3)));

  const [, text = ""] = /<system-out>([^]*?)<\/system-out>/.exec(junit!) ?? [];
  const [, before = "", omitted, after = ""] = /^([^]*)\[(\d+) bytes omitted\]\n([^]*)$/.exec(text) ?? [];
  for (const part of [before, after]) expect(part).toMatch(/^(?:\d{6}\n)+$/);
  expect(before).toStartWith(`${first}\n`);
  expect(after).toEndWith(`${last}\n`);
  const line = `${first}\n`.length;
  expect(before.length + Number(omitted) + after.length).toBe((last - first + 1) * line);
  expect(before.length + after.length).toBeLessThanOrEqual(128 << 10);
  // Sequential scripts use one thread of the trace.
  const { traceEvents } = (await Bun.file(project.join("trace.json")).json()) as {
    traceEvents: TraceEvent[];
  };
  const lanes = traceEvents.filter(({ ph }) => ph === "X").map(({ tid }) => tid);
  expect(lanes).toEqual([1, 1, 1, 1]);
  expect(page).toContain(`"omitted":${omitted},`);
  // Even short tasks: the first is on the critical path of the second.
  expect(page).toContain('"limit":1,');
  expect(page!.match(/"isCritical":true/g)).toHaveLength(2);
  expect([...page!.matchAll(/"state":"(\w+)"/g)].map(([, state]) => state)).toEqual([
    "executed",
    "failed",
    "stopped",
  ]);
});

test("a JUnit suite starts with the first of its scripts", async () => {
  let text = "";
  const file = { write: async (given: string) => ((text = given), true) };
  const before = Date.now();
  const request = { scripts: ["t"], filters: [], quote: String } as unknown as TaskRequest;
  const reporter = createJUnitReporter(file, request);
  const after = Date.now();
  for (const [index, at] of [9000, 5000].entries()) {
    const task = { index, packageName: "a", scriptName: "t", steps: [] } as unknown as ScriptTask;
    void reporter.report({ type: "task-end", task, outcome: { kind: "success" }, at, duration: 1000 });
  }
  await reporter.finish();
  const [, timestamp] = /timestamp="([^"]*)"/.exec(text)!;
  const second = (time: number) => new Date(time + 4000).toISOString().slice(0, 19);
  expect([second(before), second(after)]).toContain(timestamp!);
});

test("a report that cannot be written is an error before any script starts", () =>
  expectRt({
    files: { "package.json": { scripts: { t: "touch ran" } } },
    args: ["run", "--report=a.html", "--report=nowhere/trace.json", "t"],
    stderr:
      "error: Cannot write the report $PROJECT/nowhere/trace.json: ENOENT\nhint: --report needs a file in a directory that can be written to\n",
    status: 1,
  }));

test("the output of a single script appears on the terminal and in the page", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "echo told" } } });
  await using terminal = startOnTerminal([RT, "run", "--report=run.html", "t"], cleanEnvironment(), {
    cwd: project.path,
  });
  expect(await terminal.awaitExit()).toBe(0);
  await terminal.awaitOutput("told");
  expect(await Bun.file(project.join("run.html")).text()).toContain('"output":"told\\n"');
});

test("the critical path is the longest chain in any graph", () => {
  const random = createRandom(20);
  for (let round = 0; round < 200; round++) {
    const size = 1 + random.below(14);
    const durations = Array.from({ length: size }, () => random.below(1000));
    const waitsFor = durations.map((_, self) =>
      Array.from({ length: self }, (_, other) => other).filter(() => random.below(3) === 0),
    );
    // Tries every chain.
    const lengthsFrom = (position: number): number[] => {
      const further = waitsFor[position]!.flatMap(lengthsFrom);
      return [0, ...further].map((length) => length + durations[position]!);
    };
    const longest = Math.max(...durations.keys().flatMap(lengthsFrom));
    const { duration, tasks } = findCriticalPath(durations, waitsFor);
    expect(duration).toBe(longest);
    expect(tasks.reduce((sum, each) => sum + durations[each]!, 0)).toBe(longest);
    for (const [index, each] of tasks.entries())
      if (index > 0) expect(waitsFor[each]).toContain(tasks[index - 1]);
  }
});
