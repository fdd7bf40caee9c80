// `--shard`: each machine runs one static part of a plan. Each machine of these tests is a separate folder with the
// same files.
import { describe, expect, test } from "bun:test";
import { type ShardContents, splitTasks } from "../../src/tasks/planning/shard.ts";
import { createProject, type Files } from "../support/project.ts";
import { createRandom } from "../support/random.ts";
import { expectRt, runRt } from "../support/rt.ts";
import { packageWith, workspace } from "../support/workspace.ts";

/** Appends its package to a file of the folder, so that tests can compare the machines. */
const t = { scripts: { t: `echo $npm_package_name >> "$INIT_CWD/ran.txt"` } };
const all = ["--filter", "*"];

const report = (times: Readonly<Record<string, number>>, more: object = {}) => ({
  version: 1,
  tasks: Object.entries(times).map(([name, duration]) => ({
    package: name,
    script: "t",
    outcome: "success",
    duration,
    ...more,
  })),
});

interface ShardRun {
  readonly names: readonly string[];
  /** The line that names the shard. */
  readonly line: string;
  readonly status: number | string;
}

/** Runs each shard on a separate machine. */
async function runShards(files: Files, count: number, options: readonly string[] = all): Promise<ShardRun[]> {
  return await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      await using project = await createProject(files);
      const shard = `--shard=${at + 1}/${count}`;
      const { status, stderr } = await runRt({ args: ["run", ...options, shard, "t"], cwd: project.path });
      const runs = Bun.file(project.join("ran.txt"));
      const names = (await runs.exists()) ? (await runs.text()).trim().split("\n").toSorted() : [];
      return { names, line: /^Shard .*$/m.exec(stderr)?.[0] ?? stderr, status };
    }),
  );
}

const splitOf = ({ line }: ShardRun) => /\(split ([0-9a-f]{8})\)$/.exec(line)?.[1];

describe("rt run --shard", () => {
  const letters = [..."abcdefghijk"];

  test("runs each script on one machine, and splits evenly", async () => {
    const runs = await runShards(workspace(Object.fromEntries(letters.map((name) => [name, t]))), 4);
    expect(runs.flatMap(({ names }) => names).toSorted()).toEqual(letters);
    expect(runs.map(({ names }) => names.length)).toEqual([3, 3, 3, 2]);
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 0, 0]);
    expect(new Set(runs.map(splitOf)).size).toBe(1);
    expect(runs[3]!.line).toMatch(/^Shard 4\/4: 2 of 11 scripts \(split/);
  });

  // Two chains, x1 <- x2 <- x3 and y1 <- y2; the last package of each chain also depends on z.
  const needs = (...names: string[]) => ({
    ...t,
    dependencies: Object.fromEntries(names.map((name) => [name, "*"])),
  });
  const chains = workspace({
    x1: needs("z"),
    x2: needs("x1"),
    x3: needs("x2"),
    y1: needs("z"),
    y2: needs("y1"),
    z: t,
  });

  test("runs the dependencies of its scripts on each machine, and works with more machines than scripts", async () => {
    const [x, y, none] = await runShards(chains, 3);
    expect(x!.names).toEqual(["x1", "x2", "x3", "z"]);
    expect(y!.names).toEqual(["y1", "y2", "z"]);
    expect(none).toMatchObject({ names: [], status: 0 });
    expect(x!.line).toMatch(/^Shard 1\/3: 3 of 6 scripts, and 1 that they wait for \(split/);
    expect(y!.line).toMatch(/^Shard 2\/3: 3 of 6 scripts \(split/);
    expect(none!.line).toMatch(/^Shard 3\/3: 0 of 6 scripts \(split/);
  });

  test("splits scripts regardless of dependencies with --parallel", async () => {
    const runs = await runShards(chains, 3, ["--parallel", ...all]);
    expect(runs.flatMap(({ names }) => names).toSorted()).toEqual(["x1", "x2", "x3", "y1", "y2", "z"]);
    expect(runs.map(({ names }) => names.length)).toEqual([2, 2, 2]);
  });

  test("prints the scripts of each machine with --dry-run", async () => {
    const text = (own: string) =>
      expectRt({
        files: chains,
        args: ["run", ...all, "--shard", own, "--dry-run", "t"],
        stdout: new RegExp(
          [
            own === "2/2" ? "\n3 scripts would run\n\n" : "\n4 scripts would run\n\n",
            `shard 1/2${own === "1/2" ? ", this one" : ""}\n  x1 t\n  x2 t\n  x3 t\n  z t \\(dependency\\)\n`,
            `shard 2/2${own === "2/2" ? ", this one" : ""}\n  z t\n  y1 t\n  y2 t\n`,
            "split [0-9a-f]{8}\n$",
          ].join(""),
        ),
      });
    await text("1/2");
    await text("2/2");
    await using project = await createProject(chains);
    const args = ["run", ...all, "--shard=2/2", "--dry-run=json", "t"];
    const plan = JSON.parse((await runRt({ args, cwd: project.path })).stdout);
    expect(plan.tasks.map(({ label, waitsFor }: never) => [label, waitsFor])).toEqual([
      ["z t", []],
      ["y1 t", ["z t"]],
      ["y2 t", ["y1 t"]],
    ]);
    expect(plan.shard).toMatchObject({
      number: 2,
      count: 2,
      shards: [
        { scripts: ["x1 t", "x2 t", "x3 t"], needed: ["z t"], duration: null },
        { scripts: ["z t", "y1 t", "y2 t"], needed: [], duration: null },
      ],
    });
  });

  test("balances by the durations in reports with --shard-times, which may be given several times", async () => {
    const files = {
      ...workspace(Object.fromEntries([..."abcdef"].map((name) => [name, t]))),
      "times/1.json": report({ a: 1000, b: 50, c: 700, gone: 5000 }),
      "times/2.json": report({ a: 300, b: 100, d: 1 }),
      "times/skipped.json": report({ d: 9000 }, { outcome: "skipped" }),
      "times/cached.json": report({ d: 3 }, { saved: 100, duration: 3 }),
      "times/notes.txt": "no report",
    };
    // e and f have no duration and get the median: 700.
    const runs = await runShards(files, 2, [...all, "--shard-times=times"]);
    expect(runs.map(({ names }) => names.join(""))).toEqual(["af", "bcde"]);
    expect(runs[0]!.line).toMatch(/^Shard 1\/2: 2 of 6 scripts, 1\.70 s of work \(split/);
    expect(runs[1]!.line).toMatch(/^Shard 2\/2: 4 of 6 scripts, 1\.60 s of work \(split/);
    expect(splitOf(runs[0]!)).toBe(splitOf(runs[1]!));
    const alike = await runShards(files, 2);
    expect(alike.map(({ names }) => names.join(""))).toEqual(["ace", "bdf"]);
    expect(splitOf(alike[0]!)).not.toBe(splitOf(runs[0]!));
  });

  test("splits the scripts of one package, and gives a single script to one machine", async () => {
    const files = packageWith({ "t:a": "echo a", "t:b": "echo b" });
    await expectRt({
      files,
      args: ["run", "--parallel", "--shard", "2/2", "t:*"],
      stdout: "t:b | b\n",
      stderr: /^Shard 2\/2: 1 of 2 scripts \(split [0-9a-f]{8}\)\nt:b \| Done in [0-9.]+ m?s\n$/,
    });
    await expectRt({
      files,
      args: ["run", "--silent", "--shard", "2/2", "t:a"],
    });
  });

  const hint = "hint: of five machines the first takes --shard 1/5, the last --shard 5/5\n";
  const timesHint =
    "hint: pass files written by --report, the same on every machine, or omit --shard-times\n";
  test.each<[options: string[], stderr: string]>([
    ...["0/5", "6/5", "two/5", "2", "2/", "1/0", "-1/5", "1.5/5", "1/2/3", "2/5x\x1b[31m"].map(
      (value): [string[], string] => [
        [`--shard=${value}`],
        `error: --shard needs a number and a count, such as 2/5, not "${value.replace("\x1b", "\\u001b")}"\n${hint}`,
      ],
    ),
    [["--shard=1/1001"], `error: --shard needs at most 1000 shards, not "1/1001"\n${hint}`],
    [
      ["--shard-times=times.json"],
      "error: --shard-times has no effect without --shard\nhint: give both, or neither\n",
    ],
    [
      ["--shard=1/2", "--sequential"],
      "error: --sequential cannot be used with --shard\nhint: remove --sequential: --concurrency=1 runs one script at a time, after its dependencies\n",
    ],
    [
      ["--shard=1/2", "--shard-times=none.json"],
      `error: Cannot read times from $PROJECT/none.json: ENOENT\n${timesHint}`,
    ],
    [
      ["--shard=1/2", "--shard-times=packages"],
      `error: Cannot read times from $PROJECT/packages: the folder contains no report\n${timesHint}`,
    ],
    ...["text", "array", "null", "tasks"].map((name): [string[], string] => [
      ["--shard=1/2", `--shard-times=bad/${name}.json`],
      `error: Cannot read times from $PROJECT/bad/${name}.json: it is not a report of rt\n${timesHint}`,
    ]),
    ...["negative", "huge", "word", "unnamed"].map((name): [string[], string] => [
      ["--shard=1/2", `--shard-times=bad/${name}.json`],
      `error: Cannot read times from $PROJECT/bad/${name}.json: one of its tasks has no name or no time\n${timesHint}`,
    ]),
  ])("fails with %j before any script starts", async (options, stderr) => {
    const bad = {
      text: "tasks",
      array: "[]",
      null: "null",
      tasks: `{"tasks":[1]}`,
      negative: report({ a: -1 }),
      huge: `{"tasks":[{"package":"a","script":"t","outcome":"success","duration":1e300}]}`,
      word: `{"tasks":[{"package":"a","script":"t","outcome":"success","duration":"1"}]}`,
      unnamed: `{"tasks":[{"outcome":"success","duration":1}]}`,
    };
    const files = {
      ...workspace({ a: t }),
      ...Object.fromEntries(Object.entries(bad).map(([name, content]) => [`bad/${name}.json`, content])),
    };
    await expectRt({ files, args: ["run", ...all, ...options, "t"], stderr, status: 1 });
  });
});

describe("splitTasks()", () => {
  const random = createRandom(7);

  /** Creates tasks in an order in which each depends only on earlier tasks. */
  function createGraph(edges: number) {
    const size = 1 + random.below(30);
    const keys = Array.from({ length: size }, (_, index) => `p${index * 7919}`);
    const waitsFor = keys.map((_, index) =>
      Array.from({ length: index }, (_, target) => target).filter(() => random.below(100) < edges),
    );
    return { keys, waitsFor, weights: keys.map(() => 1 + random.below(1000)), count: 1 + random.below(8) };
  }

  const named = (keys: readonly string[], shares: readonly ShardContents[]) =>
    shares.map(({ own, needed, weight }) => ({
      own: own.map((index) => keys[index]!).toSorted(),
      needed: needed.map((index) => keys[index]!).toSorted(),
      weight,
    }));
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

  test("assigns each task to one shard, with all its dependencies, independently of the order of the tasks", () => {
    for (let round = 0; round < 500; round++) {
      const { keys, waitsFor, weights, count } = createGraph(random.pick([0, 3, 10, 40]));
      const shares = splitTasks(keys, waitsFor, weights, count);
      expect(shares.length).toBe(count);
      expect(shares.flatMap(({ own }) => own).toSorted((a, b) => a - b)).toEqual([...keys.keys()]);
      const reach = (index: number): number[] => [index, ...waitsFor[index]!.flatMap(reach)];
      const totals = keys.map((_, index) => sum([...new Set(reach(index))].map((each) => weights[each]!)));
      const last = [...keys.keys()].filter((index) => !waitsFor.some((targets) => targets.includes(index)));
      for (const { own, needed, weight } of shares) {
        const runs = new Set([...own, ...needed]);
        expect(runs.size).toBe(own.length + needed.length);
        // Every task comes with its dependencies, and no shard runs a task that its own tasks do not need.
        expect([...runs].every((index) => waitsFor[index]!.every((target) => runs.has(target)))).toBe(true);
        expect([...new Set([...runs].filter((index) => own.includes(index)).flatMap(reach))].length).toBe(
          runs.size,
        );
        expect(weight).toBe(sum([...runs].map((index) => weights[index]!)));
        expect(weight).toBeLessThanOrEqual(
          sum(last.map((index) => totals[index]!)) / count + Math.max(...totals),
        );
      }
      const order = [...keys.keys()].toSorted(() => random.below(3) - 1);
      const place = new Map(order.map((index, at) => [index, at]));
      const shuffled = splitTasks(
        order.map((index) => keys[index]!),
        order.map((index) => waitsFor[index]!.map((target) => place.get(target)!).toReversed()),
        order.map((index) => weights[index]!),
        count,
      );
      expect(
        named(
          order.map((index) => keys[index]!),
          shuffled,
        ),
      ).toEqual(named(keys, shares));
    }
  });

  test("balances independent tasks to within the longest task", () => {
    for (let round = 0; round < 300; round++) {
      const { keys, waitsFor, weights, count } = createGraph(0);
      const loads = splitTasks(keys, waitsFor, weights, count).map(({ weight }) => weight);
      expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(Math.max(...weights));
      const counts = splitTasks(keys, waitsFor, weights.fill(5), count).map(({ own }) => own.length);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    }
  });

  test("splits 10,000 tasks", () => {
    const keys = Array.from({ length: 10_000 }, (_, index) => `p${index}`);
    const waitsFor = keys.map((_, index) => (index < 100 ? [] : [index % 100]));
    const weights = keys.map((_, index) => 1 + (index % 13));
    const shares = splitTasks(keys, waitsFor, weights, 50);
    expect(sum(shares.map(({ own }) => own.length))).toBe(10_000);
  });
});
