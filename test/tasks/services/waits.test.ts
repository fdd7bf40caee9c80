// Waits of services in one process: for another start, and for an answer.
import { expect, spyOn, test } from "bun:test";
import { requestStatus } from "../../../src/tasks/services/probes.ts";
import { Service } from "../../../src/tasks/services/service.ts";
import type { ScriptTask } from "../../../src/tasks/task.ts";
import type { TaskEvent } from "../../../src/tasks/task-events.ts";

const STEP = { scriptName: "db", command: "exit 1", isMain: true };
const TASK: ScriptTask = {
  index: 0,
  packageName: "",
  packageDirectory: "/",
  manifest: {},
  scriptName: "db",
  label: "db",
  steps: [STEP],
  args: [],
  rule: { service: true, restart: "on-failure", sources: {} },
};
/** The number of waits until the longest one, and a time far below it. */
const [WAITS, TIMEOUT] = [7, 15_000];

/** Creates a service that fails again and again. @param onWait called at the begin of each wait for another start */
function createFailing(onWait: (service: Service, waits: number) => void) {
  const notices: string[] = [];
  let isEnding = false;
  const service: Service = new Service({
    task: TASK,
    hasDependents: true,
    isNeeded: () => true,
    isEnding: () => isEnding,
    now: () => 0,
    onReady() {},
    emit(event: TaskEvent) {
      if (event.type === "notice") notices.push(event.message);
      setTimeout(() => onWait(service, notices.length));
    },
  });
  const fail = async () => {
    isEnding = false;
    return await service.conclude({ kind: "failure", code: 1, step: STEP }, STEP);
  };
  return { notices, fail, endRun: () => void (isEnding = true) };
}

test.each([
  ["the run ends", { kind: "stopped", wasRunning: true }],
  ["no task needs the service", { kind: "success", isStopped: true }],
] as const)(
  "a wait before another start ends when %s",
  async (reason, expected) => {
    const { notices, fail, endRun } = createFailing((service, waits) => {
      if (waits === WAITS && reason !== "the run ends") service.stop("SIGTERM");
      else endRun();
    });
    for (let wait = 1; wait < WAITS; wait++) await fail();
    expect(await fail()).toEqual(expected);
    expect(notices.at(-1)).toBe("db: Exited with code 1; it starts again in 30 s");
  },
  TIMEOUT,
);

test("a wait before another start is short again when the service has run for a minute", async () => {
  const { notices, fail, endRun } = createFailing(() => endRun());
  await fail();
  await fail();
  const later = performance.now() + 60_000;
  using _clock = spyOn(performance, "now").mockImplementation(() => later);
  await fail();
  expect(notices.map((notice) => notice.slice(notice.lastIndexOf("in ")))).toEqual([
    "in 0.5 s",
    "in 1 s",
    "in 0.5 s",
  ]);
});

test(
  "a check of a URL ends when the server's answer does not",
  async () => {
    using server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open(socket) {
          socket.write("HTTP/1.1 200 OK\r\n");
          setInterval(() => socket.write("X: x\r\n"), 5).unref();
        },
        data() {},
      },
    });
    expect(await requestStatus(`http://127.0.0.1:${server.port}`, 100)).toBeUndefined();
  },
  TIMEOUT,
);
