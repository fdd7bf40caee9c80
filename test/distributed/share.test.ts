// `rt run --share` on machines with separate checkouts, with a real redis-server and `rt cache serve`. No test depends on
// time: scripts wait for files that the test creates.
import { expect, test } from "bun:test";
import { CAN_TRACE } from "../cache/cached-project.ts";
import { createMachines, RECORD, waitAt } from "./machines.ts";

const ONE_AT_A_TIME = ["--concurrency=1"];

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** Kills a script. It may have ended together with its rt. */
function endScript(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

test.skipIf(!CAN_TRACE)(
  "40 scripts on four machines run once each, and each machine gets all outputs",
  async () => {
    const packages: Record<string, { t: string; needs: string[] }> = {
      // The script waits until all machines have started.
      p0: { t: `${RECORD}; ${waitAt("all")}; cat src.txt > out.txt`, needs: [] },
    };
    for (let at = 1; at < 40; at++) {
      const needs = [...new Set([0, at >> 1, Math.max(0, at - 7)])].map((each) => `p${each}`);
      const inputs = needs.map((each) => `../${each}/out.txt`).join(" ");
      packages[`p${at}`] = { t: `${RECORD}; cat src.txt ${inputs} > out.txt; echo made by p${at}`, needs };
    }
    await using machines = await createMachines({ count: 4, packages });
    const running = machines.all.map((each) => each.start([...ONE_AT_A_TIME, "--report=report.json"]));
    for (const [at, each] of running.entries())
      await each.waitForOutput(`, machine m${at + 1}: 40 of 40 scripts are shared`);
    await machines.reached("all");
    await machines.open("all");
    const results = await Promise.all(running.map(({ result }) => result));
    expect(results.map(({ status, stderr }) => [status, countOf(stderr, "warning:")])).toEqual(
      Array(4).fill([0, 0]),
    );

    const ran = (await machines.ran()).map((line) => line.split(" "));
    const names = Object.keys(packages);
    expect(ran.map(([name]) => name).toSorted()).toEqual(names.toSorted());
    const counts = machines.all.map(({ path }) => ran.filter(([, where]) => where!.startsWith(path)).length);
    const outputs = async (path: string) =>
      await Promise.all(names.map((name) => Bun.file(`${path}/packages/${name}/out.txt`).text()));
    const made = await outputs(machines.all[0]!.path);
    for (const [at, { name, path }] of machines.all.entries()) {
      const { stdout, stderr } = results[at]!;
      expect(await outputs(path)).toEqual(made);
      for (let script = 1; script < 40; script++)
        expect(countOf(stdout, `p${script} t: made by p${script}\n`)).toBe(1);
      // Each machine prints and reports which machine ran each script.
      const others = machines.all
        .map((other, index) => `, ${counts[index]} on ${other.name}`)
        .filter((_, index) => index !== at && counts[index]! > 0);
      expect(countOf(stdout, `: Ran on ${name} (saved `)).toBe(0);
      expect(countOf(stdout, ": Ran on m")).toBe(40 - counts[at]!);
      const scripts = counts[at] === 1 ? "1 script" : `${counts[at]} scripts`;
      expect(stderr).toContain(`\nShared run: ${scripts} on this machine${others.join("")}\n`);
      const report = JSON.parse(await Bun.file(`${path}/report.json`).text());
      for (const task of report.tasks) {
        const where = ran.find(([each]) => each === task.package)![1]!;
        expect(task.machine).toBe(machines.all.find((each) => where.startsWith(each.path))!.name);
        expect(task.machine === name).toBe(task.saved === undefined);
      }
    }
  },
);

test.skipIf(!CAN_TRACE)("another machine takes over the script of a killed machine", async () => {
  const packages = {
    a: { t: `${waitAt("hold")}; ${RECORD}; echo made > out.txt` },
    b: { t: `${RECORD}; cat ../a/out.txt > out.txt`, needs: ["a"] },
  };
  await using machines = await createMachines({ count: 2, packages });
  const life = { RT_SHARE_LIFE: "600" };
  const first = machines.all[0]!.start(ONE_AT_A_TIME, life);
  const [pid] = await machines.reached("hold");
  first.kill("SIGKILL");
  endScript(pid!);
  await first.result;
  const second = machines.all[1]!.start(ONE_AT_A_TIME, life);
  await machines.reached("hold", 2);
  await machines.open("hold");
  const { status, stderr } = await second.result;
  expect({ status, ran: (await machines.ran()).map((line) => line.split(" ")[0]) }).toEqual({
    status: 0,
    ran: ["a", "b"],
  });
  expect(stderr).toContain("\nShared run: 2 scripts on this machine\n");
});

test.skipIf(!CAN_TRACE)("SIGINT releases the lease at once", async () => {
  const packages = { a: { t: `${waitAt("hold")}; echo made > out.txt` } };
  await using machines = await createMachines({ count: 2, packages });
  const life = { RT_SHARE_LIFE: "3600000", RT_SHARE_PATIENCE: "3600000" };
  const first = machines.all[0]!.start(ONE_AT_A_TIME, life);
  await machines.reached("hold");
  first.kill("SIGINT");
  expect((await first.result).status).toBe("SIGINT");
  const second = machines.all[1]!.start(ONE_AT_A_TIME, life);
  await machines.reached("hold", 2);
  await machines.open("hold");
  expect((await second.result).status).toBe(0);
});

test.skipIf(!CAN_TRACE)(
  "a suspended machine whose lease expired publishes no result, and uses that of its successor",
  async () => {
    const packages = { a: { t: `${waitAt("hold")}; echo made by $$ > out.txt; echo by $$` } };
    await using machines = await createMachines({ count: 2, packages });
    const [one, two] = machines.all;
    const first = one!.start(ONE_AT_A_TIME, { RT_SHARE_LIFE: "600" });
    const [old] = await machines.reached("hold");
    first.kill("SIGSTOP");
    const second = two!.start(ONE_AT_A_TIME);
    const [, next] = await machines.reached("hold", 2);
    // The first machine continues, and its script ends first.
    await machines.open("hold", old);
    first.kill("SIGCONT");
    await first.waitForOutput(
      "warning: Another machine has taken over a t, because this one did not renew its lease",
    );
    await machines.open("hold", next);
    const results = await Promise.all([first.result, second.result]);
    expect(results.map(({ status }) => status)).toEqual([0, 0]);
    for (const { path } of machines.all)
      expect(await Bun.file(`${path}/packages/a/out.txt`).text()).toBe(`made by ${next}\n`);
    expect(results[0].stdout).toContain(`a t: by ${next}\n`);
    expect(results[0].stderr).toContain("\nShared run: 0 scripts on this machine, 1 on m2\n");
    expect(results[1].stderr).toContain("\nShared run: 1 script on this machine\n");
  },
);

test.skipIf(!CAN_TRACE)("a failure has the same exit code and output on every machine", async () => {
  const packages = {
    a: { pret: "echo first", t: `${RECORD}; ${waitAt("all")}; echo out; echo err >&2; exit 3` },
    b: { t: RECORD, needs: ["a"] },
    c: { t: `${RECORD}; kill -9 $$` },
  };
  await using machines = await createMachines({ count: 2, packages });
  const running = machines.all.map((each) => each.start(["--concurrency=2"]));
  for (const each of running) await each.waitForOutput(": 3 of 3 scripts are shared");
  await machines.reached("all");
  await machines.open("all");
  const results = await Promise.all(running.map(({ result }) => result));
  expect((await machines.ran()).map((line) => line.split(" ")[0]).toSorted()).toEqual(["a", "c"]);
  for (const { stdout, stderr, status } of results) {
    // Lines of c may be between these.
    expect(stdout.split("\n").filter((line) => line.startsWith("a "))).toEqual([
      ...["a pret: first", "a pret: Exited with code 0"],
      ...["a t: out", "a t: err", "a t: Exited with code 3"],
    ]);
    expect(stdout).toContain("b t: Skipped because a t did not succeed\n");
    expect(stdout).toMatch(/^c t: (?:Killed by SIGKILL|Exited with code 137)$/m);
    expect(stderr).toContain(": 2 failed, 1 skipped\n");
    expect(["SIGKILL", 137, 3]).toContain(status);
  }
});

test.skipIf(!CAN_TRACE)("a shared run completes when Redis restarts without data", async () => {
  const packages = {
    a: { t: `${waitAt("hold")}; ${RECORD}; echo made > out.txt` },
    b: { t: `${RECORD}; cat ../a/out.txt > out.txt`, needs: ["a"] },
    c: { t: `${RECORD}; cat src.txt > out.txt` },
  };
  await using machines = await createMachines({ count: 2, packages });
  const running = machines.all.map((each) => each.start(ONE_AT_A_TIME));
  for (const each of running) await each.waitForOutput(": 3 of 3 scripts are shared");
  await machines.reached("hold");
  await machines.redis.kill();
  await machines.redis.start();
  await machines.open("hold");
  const results = await Promise.all(running.map(({ result }) => result));
  expect(results.map(({ status }) => status)).toEqual([0, 0]);
  expect([...new Set((await machines.ran()).map((line) => line.split(" ")[0]))].toSorted()).toEqual([
    "a",
    "b",
    "c",
  ]);
  for (const { path } of machines.all)
    expect(await Bun.file(`${path}/packages/b/out.txt`).text()).toBe("made\n");
});

test.skipIf(!CAN_TRACE)(
  "each machine runs the remaining scripts alone when Redis is unreachable",
  async () => {
    const packages = {
      a: { t: `${waitAt("hold")}; ${RECORD}; echo made > out.txt` },
      b: { t: `${RECORD}; cat ../a/out.txt > out.txt`, needs: ["a"] },
    };
    await using machines = await createMachines({ count: 2, packages });
    const running = machines.all.map((each) => each.start(ONE_AT_A_TIME, { RT_SHARE_PATIENCE: "100" }));
    for (const each of running) await each.waitForOutput(": 2 of 2 scripts are shared");
    await machines.reached("hold");
    await machines.redis.kill();
    await machines.reached("hold", 2);
    await machines.open("hold");
    const results = await Promise.all(running.map(({ result }) => result));
    expect(results.map(({ status }) => status)).toEqual([0, 0]);
    const line =
      /^warning: Lost the connection to the coordinator: Redis has not been reached for 0\.1 s: it cannot be reached \(ECONNREFUSED\); running the remaining scripts locally$/m;
    for (const { stderr } of results) expect(stderr).toMatch(line);
    for (const { path } of machines.all)
      expect(await Bun.file(`${path}/packages/b/out.txt`).text()).toBe("made\n");
  },
);

test.skipIf(!CAN_TRACE).each([
  [
    "contains the path of the project",
    "pwd > out.txt",
    {},
    /runs again locally: packages\/a\/out\.txt contains "\S+\/checkout", the path of the project, so the result is valid only there; use the same path for all checkouts$/m,
  ],
  [
    "had another value of a variable",
    "echo made > out.txt",
    { GATES: "elsewhere" },
    /runs again locally: the machines start it differently: the variable GATES changed$/m,
  ],
])(
  "a machine runs a script again and names the reason when the result of another machine %s",
  async (_, t, env, reason) => {
    await using machines = await createMachines({ count: 2, packages: { a: { t: `${RECORD}; ${t}` } } });
    const [first, second] = machines.all;
    expect((await first!.start([]).result).status).toBe(0);
    const { stderr, status } = await second!.start([], env).result;
    expect({ stderr, status }).toEqual({ stderr: expect.stringMatching(reason), status: 0 });
    expect(await machines.ran()).toHaveLength(2);
  },
);
