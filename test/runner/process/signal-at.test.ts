// Tests signals that a library sends from within rt (signal-at.c), at moments that a test cannot hit from outside.
// rt waits for hooks. It neither loses a signal nor treats it as handled.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { createMark, waitUntil } from "../../support/processes.ts";
import { createProject } from "../../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";

const isLinux = process.platform === "linux";

let folder = "";

beforeAll(async () => {
  if (!isLinux) return;
  folder = await mkdtemp(join(tmpdir(), "rt-test-signal-"));
  await Bun.$`cc -shared -fPIC -O1 -o ${folder}/signal-at.so ${join(import.meta.dir, "signal-at.c")}`.quiet();
});

afterAll(async () => await rm(folder, { recursive: true, force: true }));

const sending = (signal: "SIGINT" | "SIGTERM" | "SIGHUP", moment: "before-fork" | "after-wait") => ({
  LD_PRELOAD: join(folder, "signal-at.so"),
  SIGNAL_AT: moment,
  SIGNAL_NUMBER: String(constants.signals[signal]),
});

describe.skipIf(!isLinux).concurrent("a signal", () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    test.each([{}, { postgo: "echo not reached either" }])(
      `${signal} at the end of a hook stops the script from starting, with %j`,
      async (more) => {
        await using project = await createProject({
          "package.json": { scripts: { prego: "true && true", go: "echo not reached", ...more } },
        });
        const env = sending(signal, "after-wait");
        expect(await runRt({ args: ["--silent", "go"], cwd: project.path, env })).toEqual({
          stdout: "",
          stderr: "",
          status: signal,
        });
      },
    );

    test(`${signal} at the end of a script stops its post-hook from starting`, async () => {
      await using project = await createProject({
        "package.json": { scripts: { go: "echo done; true", postgo: "echo not reached" } },
      });
      const env = sending(signal, "after-wait");
      expect(await runRt({ args: ["--silent", "go"], cwd: project.path, env })).toEqual({
        stdout: "done\n",
        stderr: "",
        status: signal,
      });
    });
  }

  test("reaches a hook when Ctrl-C comes just before the hook exists", async () => {
    await using project = await createProject({
      "package.json": { scripts: { prego: "sleep 1000", go: "echo not reached" } },
    });
    const mark = createMark();
    const env = cleanEnvironment({ ...sending("SIGINT", "before-fork"), ...mark.env });
    await using terminal = startOnTerminal([RT, "--silent", "--cwd", project.path, "run", "go"], env);
    expect(await terminal.awaitExit()).toBe("SIGINT");
    expect(terminal.shown).not.toContain("not reached");
    await waitUntil(() => mark.find().length === 0);
  });
});
