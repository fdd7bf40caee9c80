// Checks which processes a child's tree has, and which descriptors rt holds for a child.
import { describe, expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { findProgram } from "../../build/system-programs.ts";
import { readProc, selectTrees } from "../../platform/processes/posix/process-table.ts";
import { operations as trees } from "../../platform/processes/posix/process-tree.ts";
import { createMark, waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";

const isLinux = process.platform === "linux";

/** Returns the number of pipe ends that this process holds. */
function countPipes(): number {
  return readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith("pipe:");
    } catch {
      return false; // the descriptor of this listing
    }
  }).length;
}

function start(
  program: string,
  args: readonly string[],
  output: "merged" | "separate" | "inherit",
  env: Record<string, string> = {},
) {
  const text = { output: "", error: "" }; // collects the chunks of each stream
  const child = trees.startChild({
    program,
    argv: [program, ...args],
    cwd: "/",
    env,
    output,
    inheritStdin: false,
    onOutput: (bytes, isError) => void (text[isError ? "error" : "output"] += Buffer.from(bytes)),
  });
  return { child, text };
}

test.skipIf(!isLinux)(
  "rt holds only the reading ends of a child's pipes, and no descriptor after its exit",
  async () => {
    await start("/bin/sh", ["-c", ""], "inherit").child.done; // starts the kill watchdog too
    const before = countPipes();
    for (const [output, ends] of [
      ["merged", 1],
      ["separate", 2],
    ] as const) {
      const { child, text } = start("/bin/sh", ["-c", "echo a; echo b >&2"], output);
      expect(countPipes()).toBe(before + ends);
      expect(await child.done).toMatchObject({ code: 0 });
      // The engine closes the streams asynchronously.
      await waitUntil(() => countPipes() === before);
      expect(text).toEqual(
        output === "merged" ? { output: "a\nb\n", error: "" } : { output: "a\n", error: "b\n" },
      );
    }
  },
);

test.skipIf(!isLinux)("a program that cannot be started leaves no descriptor open", () => {
  const before = countPipes();
  for (const output of ["merged", "separate"] as const)
    expect(() => start("/proc/self/absent", [], output)).toThrow("ENOENT");
  expect(countPipes()).toBe(before);
});

test.skipIf(!isLinux)(
  "signalTrees() signals a signal-forwarding program, but not the processes that it forwards to",
  async () => {
    const below =
      "trap 'echo heard' INT; trap 'echo ended; exit' TERM; echo below $$; while :; do sleep 0.05; done";
    const relay = `
    process.on("SIGINT", () => console.log("relay"));
    Bun.spawn(["/bin/bash", "-c", ${JSON.stringify(below)}], { detached: true, stdio: ["ignore", "inherit", "inherit"] });
    setInterval(() => {}, 1000);`;
    const { child, text } = start(process.execPath, ["-e", relay], "merged");
    try {
      await waitUntil(() => /below \d+\n/.test(text.output));
      trees.signalTrees([child], "SIGINT");
      await waitUntil(() => text.output.includes("relay"));
      process.kill(Number(/below (\d+)/.exec(text.output)![1]), "SIGTERM"); // a SIGINT would have arrived before this signal
      await waitUntil(() => text.output.includes("ended"));
      expect(text.output).not.toContain("heard");
    } finally {
      trees.signalTrees([child], "SIGKILL");
      await child.done;
    }
  },
);

test.skipIf(!isLinux)("a process that starts during the kill is killed with its tree", async () => {
  const spawner = "setsid bash -c 'for each in {1..1000}; do setsid sleep 1019 & done; wait' &";
  const mark = createMark();
  const env = { PATH: process.env.PATH!, ...mark.env };
  const { child } = start("/bin/bash", ["-c", `${spawner} ${spawner} ${spawner} wait`], "merged", env);
  await waitUntil(() => mark.find().length > 60);
  trees.signalTrees([child], "SIGKILL");
  await child.done;
  try {
    await waitUntil(() => mark.find().length === 0);
  } finally {
    mark.kill();
  }
});

test.skipIf(!isLinux)("the process table handles any character in a program's name", async () => {
  await using project = await createProject();
  const program = project.join("a) Z 7 (b");
  await copyFile(findProgram("sleep"), program);
  const child = Bun.spawn([program, "1000"]);
  try {
    expect(readProc().find(({ pid }) => pid === child.pid)).toMatchObject({ parent: process.pid });
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
});

describe("selecting a tree", () => {
  // selectTrees() looks up the root's executable, so the root is this process.
  const own = { pid: process.pid, parent: 1, group: 10, session: 10 };
  const near = { pid: 900_001, parent: own.pid, group: 10, session: 10 };
  const far = { pid: 900_002, parent: own.pid, group: 20, session: 20 };
  const below = { pid: 900_003, parent: far.pid, group: 30, session: 30 };
  const unrelated = { pid: 900_004, parent: 1, group: 40, session: 40 };
  const all = [below, far, near, own, unrelated];
  const select = (ownsSession: boolean, relay: string | null) =>
    selectTrees(all, [{ pid: own.pid, ownsSession }], relay);

  test("selectTrees() selects all descendants, also in other sessions and in any order of the list", () => {
    expect(select(false, null)).toEqual([below, far, near, own]);
  });

  test("selectTrees() omits what a signal-forwarding program has started in another session", () => {
    expect(select(false, process.execPath)).toEqual([near, own]);
    expect(select(false, "/another/program")).toEqual([below, far, near, own]);
  });

  test("selectTrees() selects all members of a session or group that the root leads", () => {
    const adopted = { pid: 900_005, parent: 1, group: 50, session: own.pid };
    const grouped = { pid: 900_006, parent: 1, group: own.pid, session: 60 };
    const roots = (ownsSession: boolean) => [{ pid: own.pid, ownsSession }];
    expect(selectTrees([own, adopted, grouped], roots(true), null)).toEqual([own, adopted, grouped]);
    expect(selectTrees([own, adopted, grouped], roots(false), null)).toEqual([own]);
  });
});
