import { describe, expect, test } from "bun:test";
import { ConcurrencyLimiter } from "../../src/tasks/execution/concurrency-limiter.ts";
import {
  type FailurePolicy,
  ResourceExhausted,
  Schedule,
  type RunControl,
} from "../../src/tasks/execution/schedule.ts";
import type { TaskStep, ScriptTask, TaskOutcome } from "../../src/tasks/task.ts";

const step: TaskStep = { scriptName: "t", command: "", isMain: true };
const failed: TaskOutcome = { kind: "failure", code: 1, step };
const success: TaskOutcome = { kind: "success" };

/** Indices of tasks. */
interface ServiceRun {
  readonly services?: readonly number[];
  readonly requested?: readonly number[];
  readonly cached?: readonly number[];
}

/** Starts a schedule whose tasks end only when the test ends them. */
function createRun(
  waitsFor: number[][],
  limit: number,
  onFailure: FailurePolicy = "skip",
  remoteTasks: { limit: number; tasks: readonly number[] } = { limit: 0, tasks: [] },
  { services = [], requested = [], cached = [] }: ServiceRun = {},
) {
  const tasks = waitsFor.map((_, index): ScriptTask => ({
    index,
    packageName: "",
    packageDirectory: "",
    manifest: {},
    scriptName: "t",
    label: `t${index}`,
    steps: [step],
    args: [],
    isDependency: !requested.includes(index),
    rule: { service: services.includes(index), sources: {} },
  }));
  const running = new Map<number, PromiseWithResolvers<TaskOutcome | "needs services">>();
  const controls = new Map<number, RunControl>();
  const log: string[] = [];
  const schedule = new Schedule({
    tasks,
    waitsFor,
    limit,
    remoteTasks: { limit: remoteTasks.limit, has: ({ index }) => remoteTasks.tasks.includes(index) },
    onFailure,
    mayHit: ({ index }) => cached.includes(index),
    release: ({ index }) => void log.push(`release ${index}`),
    abort: ({ index }) => void log.push(`abort ${index}`),
    run({ index }, control) {
      log.push(`${control.hasServices ? "start" : "look up"} ${index}`);
      controls.set(index, control);
      const ending = Promise.withResolvers<TaskOutcome | "needs services">();
      running.set(index, ending);
      return ending.promise;
    },
    settle: ({ index }, { kind }) => void log.push(`${kind} ${index}`),
    stop: () => void log.push("stop"),
  });
  const end = async (index: number, outcome: TaskOutcome | "needs services" = success) => {
    running.get(index)!.resolve(outcome);
    running.delete(index);
    for (let turn = 0; turn < 5; turn++) await null;
  };
  const refuse = async (index: number, cause?: Error) => {
    running.get(index)!.reject(new ResourceExhausted("no more", "EMFILE", { cause }));
    running.delete(index);
    for (let turn = 0; turn < 5; turn++) await null;
  };
  const ready = (index: number) => controls.get(index)!.onReady();
  return { tasks, log, end, refuse, ready, running: () => [...running.keys()], schedule };
}

describe("Schedule", () => {
  test("runs remote tasks above the local limit, up to the remote limit", async () => {
    const run = createRun([[], [], [], [], [1]], 1, "skip", { limit: 2, tasks: [1, 2, 3] });
    expect(run.running()).toEqual([0, 1, 2]);
    await run.end(1);
    expect(run.running()).toEqual([0, 2, 3]);
    await run.end(0);
    expect(run.running()).toEqual([2, 3, 4]);
    for (const index of [2, 3, 4]) await run.end(index);
    expect(await run.schedule.finished).toBeNull();
  });

  test("lowers the remote limit when a server refuses a task, and fails when it refuses the only one", async () => {
    const run = createRun([[], [], [], []], 1, "skip", { limit: 3, tasks: [1, 2, 3] });
    expect(run.running()).toEqual([0, 1, 2, 3]);
    await run.refuse(1);
    await run.refuse(2);
    expect(run.running()).toEqual([0, 3]);
    await run.end(3);
    expect(run.running()).toEqual([0, 1]);
    await run.refuse(1, new Error("the server has no room"));
    await expect(run.schedule.finished).rejects.toThrow("the server has no room");
  });

  test("starts tasks in plan order and never more than the limit", async () => {
    const run = createRun([[], [], [], []], 2);
    expect(run.running()).toEqual([0, 1]);
    await run.end(1);
    expect(run.running()).toEqual([0, 2]);
    await run.end(0);
    await run.end(2);
    await run.end(3);
    expect(await run.schedule.finished).toBeNull();
  });

  test("starts the first ready task of the plan when several are ready", async () => {
    const run = createRun([[], [0], [], []], 1);
    await run.end(0);
    expect(run.log).toEqual(["start 0", "start 1"]);
  });

  test("starts tasks in plan order, not in the order they became ready", async () => {
    const run = createRun([[], [], [0], [0], []], 1);
    for (const index of [0, 1, 2, 3]) await run.end(index);
    expect(run.log).toEqual([0, 1, 2, 3, 4].map((index) => `start ${index}`));
  });

  test("stops the running tasks once when several of them fail", async () => {
    const run = createRun([[], [], []], 3, "stop");
    await run.end(0, failed);
    await run.end(1, { ...failed, code: 2 });
    await run.end(2, { kind: "stopped", wasRunning: true });
    expect(run.log.filter((line) => line === "stop")).toEqual(["stop"]);
    expect((await run.schedule.finished)?.task.index).toBe(0);
  });

  test("starts no task and reports no failure after it was halted", async () => {
    const run = createRun([[], []], 1);
    run.schedule.halt();
    await run.end(0, { kind: "stopped", wasRunning: true });
    expect(run.log).toEqual(["start 0", "stopped 1"]);
    expect(await run.schedule.finished).toBeNull();
  });

  test("skips every dependent of a failed task once, and runs the other tasks", async () => {
    const run = createRun([[], [0], [0], [1, 2], []], 1);
    await run.end(0, failed);
    expect(run.log).toEqual(["start 0", "skipped 1", "skipped 2", "skipped 3", "start 4"]);
    await run.end(4, { ...failed, code: 9 });
    expect((await run.schedule.finished)?.task.index).toBe(0);
  });

  test("stops at a failure and keeps the exit code of the first one", async () => {
    const run = createRun([[], [], []], 2, "stop");
    await run.end(1, failed);
    expect(run.log).toEqual(["start 0", "start 1", "stop"]);
    await run.end(0, { kind: "stopped", wasRunning: true });
    expect(run.log.at(-1)).toBe("stopped 2");
    expect((await run.schedule.finished)?.task.index).toBe(1);
  });

  test("continues after a failure with the policy to continue", async () => {
    const run = createRun([[], [0]], 2, "continue");
    await run.end(0, failed);
    expect(run.running()).toEqual([1]);
    await run.end(1);
    expect((await run.schedule.finished)?.task.index).toBe(0);
  });

  test("retries with a lower limit when the system refuses to start a process", async () => {
    const run = createRun([[], [], [], []], 4);
    await run.refuse(3);
    expect(run.log).toEqual(["start 0", "start 1", "start 2", "start 3"]);
    await run.end(0);
    expect(run.log.at(-1)).toBe("start 3");
  });

  test("fails when the system refuses to start the only process", async () => {
    const run = createRun([[]], 1);
    run.schedule.finished.catch(() => {});
    await run.refuse(0);
    expect(run.schedule.finished).rejects.toThrow("no more");
  });

  test("restarts a requested task with all its dependents, in order, and leaves other tasks alone", async () => {
    const run = createRun([[], [0], [1], []], 4);
    await run.end(0);
    await run.end(1);
    expect(run.running()).toEqual([3, 2]);
    // A task that has not started, or is stopping, is not restarted twice.
    const reached = run.schedule.reach([run.tasks[0]!]);
    expect(reached.map(({ index }) => index)).toEqual([0, 1, 2]);
    run.schedule.again(reached);
    expect(run.schedule.reach([run.tasks[0]!])).toEqual([run.tasks[0]!]);
    expect(run.log.slice(4)).toEqual(["start 0"]);
    await run.end(2, { kind: "stopped", wasRunning: true });
    await run.end(0);
    await run.end(1);
    expect(run.log.slice(4)).toEqual(["start 0", "start 1", "start 2"]);
    await run.end(2);
    expect(run.schedule.isIdle).toBe(false);
    await run.end(3);
    expect(await run.schedule.finished).toBeNull();
    expect(run.schedule.isIdle).toBe(true);
  });

  test("reports only failures of the new round after a restart, and retries the failed dependencies", async () => {
    const run = createRun([[], [0], [], [2]], 4);
    await run.end(0, failed);
    await run.end(2);
    await run.end(3);
    expect((await run.schedule.finished)?.task.index).toBe(0);
    const reached = run.schedule.reach([run.tasks[1]!]);
    expect(reached.map(({ index }) => index)).toEqual([0, 1]);
    run.schedule.again(reached);
    await run.end(0);
    await run.end(1);
    expect(await run.schedule.finished).toBeNull();
    expect(run.log.slice(-2)).toEqual(["start 0", "start 1"]);
  });

  test("continues with the stopped tasks on a restart after a failure", async () => {
    const run = createRun([[], [], []], 1, "stop");
    await run.end(0, failed);
    await run.schedule.finished;
    run.schedule.again(run.schedule.reach([run.tasks[0]!]));
    for (const index of [0, 1, 2]) await run.end(index);
    expect(run.log.slice(-3)).toEqual(["start 0", "start 1", "start 2"]);
    expect(await run.schedule.finished).toBeNull();
  });

  test("restarts no task after it was halted", async () => {
    const run = createRun([[]], 1);
    run.schedule.again(run.schedule.reach([run.tasks[0]!]));
    run.schedule.halt();
    await run.end(0, { kind: "stopped", wasRunning: true });
    run.schedule.again(run.tasks);
    expect(run.log).toEqual(["start 0"]);
    expect(await run.schedule.finished).toBeNull();
  });

  const withServices = (waitsFor: number[][], services: ServiceRun, limit = 1) =>
    createRun(waitsFor, limit, "skip", undefined, services);

  test("starts a service once, before its dependents, and releases it after the last one", async () => {
    const run = withServices([[], [0], [0], [1]], { services: [0] });
    run.ready(0);
    await run.end(1);
    await run.end(2);
    expect(run.log).toEqual(["start 0", "start 1", "start 2", "start 3"]);
    await run.end(3);
    expect(run.log.slice(4)).toEqual(["release 0"]);
    await run.end(0);
    expect(await run.schedule.finished).toBeNull();
  });

  test("releases services in reverse order, and a requested one at the halt", async () => {
    const run = withServices([[], [0], [1], []], { services: [0, 1, 3], requested: [3] }, 4);
    run.ready(0);
    run.ready(1);
    run.ready(3);
    await run.end(2);
    expect(run.log.slice(-1)).toEqual(["release 1"]);
    await run.end(1);
    expect(run.log.slice(-1)).toEqual(["release 0"]);
    await run.end(0);
    run.schedule.halt();
    expect(run.log.slice(-1)).toEqual(["release 3"]);
  });

  test("starts no service whose dependents are all hits", async () => {
    const run = withServices([[], [0], [1], [1]], { services: [0, 1], cached: [2, 3] });
    await run.end(2);
    await run.end(3);
    expect(run.log).toEqual(["look up 2", "look up 3", "success 1", "success 0"]);
    expect(await run.schedule.finished).toBeNull();
  });

  test("starts the services of a task that is not a hit, and then the task", async () => {
    const run = withServices([[], [0], [1], [1]], { services: [0, 1], cached: [2, 3] });
    await run.end(2, "needs services");
    expect(run.running()).toEqual([0]);
    run.ready(0);
    run.ready(1);
    expect(run.log).toEqual(["look up 2", "start 0", "start 1", "start 2"]);
    await run.end(2);
    expect(run.log.slice(4)).toEqual(["start 3"]);
  });

  test("starts a service at once if one of its dependents is not cached", async () => {
    const run = withServices([[], [], [0, 1], [0]], { services: [0], cached: [3] });
    expect(run.log).toEqual(["start 0"]);
    run.ready(0);
    expect(run.log.slice(1)).toEqual(["start 1"]);
  });

  test("ends the dependents of a service that fails, and skips theirs", async () => {
    const run = withServices([[], [0], [1]], { services: [0] });
    run.ready(0);
    await run.end(0, failed);
    expect(run.log.slice(-1)).toEqual(["abort 1"]);
    await run.end(1, { kind: "stopped", wasRunning: true });
    expect(run.log.slice(-1)).toEqual(["skipped 2"]);
    expect((await run.schedule.finished)?.task.index).toBe(0);
  });

  test.each([
    ["skip", ["skipped 2", "skipped 1", "skipped 3"]],
    ["continue", ["start 2", "start 1"]],
  ] as const)(
    "decides by %p about a task that is looked up while its service fails",
    async (policy, expected) => {
      const run = createRun([[], [0], [0], [1]], 3, policy, undefined, { services: [0], cached: [1] });
      expect(run.log).toEqual(["start 0", "look up 1"]);
      await run.end(0, failed);
      await run.end(1, "needs services");
      expect(run.log.slice(2)).toEqual([...expected]);
    },
  );

  test("starts a released service again if a dependent restarts before it has ended", async () => {
    const run = withServices([[], [0], []], { services: [0] }, 2);
    run.ready(0);
    await run.end(1);
    expect(run.log.slice(-1)).toEqual(["release 0"]);
    run.schedule.again(run.schedule.reach([run.tasks[1]!]));
    expect(run.running()).toEqual([0, 2]);
    await run.end(0);
    run.ready(0);
    expect(run.log.slice(-2)).toEqual(["start 0", "start 1"]);
  });

  test("restarts an ended service for its dependent, and not its other dependents", async () => {
    const run = withServices([[], [0], [0], []], { services: [0] }, 3);
    run.ready(0);
    for (const index of [1, 2, 0]) await run.end(index);
    const reached = run.schedule.reach([run.tasks[2]!]);
    expect(reached.map(({ index }) => index)).toEqual([0, 2]);
    run.schedule.again(reached);
    run.ready(0);
    expect(run.log.slice(-2)).toEqual(["start 0", "start 2"]);
  });

  test("looks a restarted task up again before its ended service starts", async () => {
    const run = createRun([[], [0]], 3, "skip", undefined, { services: [0], cached: [1] });
    await run.end(1, "needs services");
    run.ready(0);
    for (const index of [1, 0]) await run.end(index);
    expect(run.log).toEqual(["look up 1", "start 0", "start 1", "release 0"]);
    expect(await run.schedule.finished).toBeNull();
    run.schedule.again(run.schedule.reach([run.tasks[1]!]));
    expect(run.log.slice(4)).toEqual(["look up 1"]);
    expect(run.schedule.isIdle).toBe(false);
    const finished = run.schedule.finished;
    await run.end(1);
    expect(await finished).toBeNull();
    expect(run.running()).toEqual([]);
  });

  test("ends at once without tasks", async () => {
    expect(await createRun([], 1).schedule.finished).toBeNull();
  });
});

test("a concurrency limiter runs the highest rank first and frees the slot of a failed job", async () => {
  const limiter = new ConcurrencyLimiter(1);
  const order: number[] = [];
  const jobs = [1, 3, 2, 3].map((rank, index) =>
    limiter.run(rank, async () => {
      order.push(index);
      if (index === 1) throw new Error("failed");
    }),
  );
  const ends = (await Promise.allSettled(jobs)).map(({ status }) => status);
  expect(ends).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(order).toEqual([1, 3, 2, 0]);
});
