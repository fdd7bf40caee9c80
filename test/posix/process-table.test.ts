// The process table: both ways to read it, /proc and what macOS has instead, must see the same; and who belongs to a tree.
import { describe, expect, test } from "bun:test";
import { copyFile } from "node:fs/promises";
import { askPs, readProc, selectTrees } from "../../platform/posix/process-table.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";

// A child in our group, one with a group of its own, one with a session of its own; each has said its number.
const TREE = `
  sleep 1000 & echo $!
  set -m; sleep 1000 & echo $!; set +m
  setsid sh -c 'echo $$; exec sleep 1000' &
  wait`;

test.skipIf(process.platform !== "linux")("ps and getsid see what /proc shows", async () => {
  const root = Bun.spawn(["bash", "-c", TREE], { stdin: "ignore", stdout: "pipe", detached: true });
  const members = [root.pid];
  try {
    let text = "";
    for await (const chunk of root.stdout) {
      text += new TextDecoder().decode(chunk);
      if (text.split("\n").length > 3) break;
    }
    members.push(...text.trim().split("\n").map(Number));
    const pick = (entries: ReturnType<typeof askPs>) =>
      selectTrees(entries, [{ pid: root.pid, ownsSession: true }], null).sort((a, b) => a.pid - b.pid);
    const seen = pick(askPs());
    expect(seen.map(({ pid }) => pid)).toEqual(members.toSorted((a, b) => a - b));
    expect(seen).toEqual(pick(readProc()));
    expect(new Set(seen.map(({ session }) => session)).size).toBe(2);
    expect(new Set(seen.map(({ group }) => group)).size).toBe(3);
  } finally {
    for (const pid of members) process.kill(pid, "SIGKILL");
  }
});

const isLinux = process.platform === "linux";

test.skipIf(!isLinux)("processes that have ended, and wait to be asked how, are left out", async () => {
  // `sleep` never asks for the child that the shell has started before it.
  const parent = Bun.spawn(["sh", "-c", "true & echo $!; exec sleep 1000"], { stdout: "pipe" });
  try {
    const { value } = await parent.stdout.getReader().read();
    const pid = Number(new TextDecoder().decode(value));
    await waitUntil(async () => (await Bun.file(`/proc/${pid}/stat`).text()).includes(") Z "));
    for (const list of [readProc(), askPs()]) {
      const pids = list.map((entry) => entry.pid);
      expect([pids.includes(parent.pid), pids.includes(pid)]).toEqual([true, false]);
    }
  } finally {
    parent.kill("SIGKILL");
    await parent.exited;
  }
});

test.skipIf(!isLinux)("a program's name may have anything in it", async () => {
  await using project = await createProject();
  const program = project.join("a) Z 7 (b");
  await copyFile(Bun.which("sleep")!, program);
  const child = Bun.spawn([program, "1000"]);
  try {
    expect(readProc().find(({ pid }) => pid === child.pid)).toMatchObject({ parent: process.pid });
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
});

describe("a tree", () => {
  // This test's own process is the parent, since what it runs is looked up.
  const own = { pid: process.pid, parent: 1, group: 10, session: 10 };
  const near = { pid: 900_001, parent: own.pid, group: 10, session: 10 };
  const far = { pid: 900_002, parent: own.pid, group: 20, session: 20 };
  const below = { pid: 900_003, parent: far.pid, group: 30, session: 30 };
  const stranger = { pid: 900_004, parent: 1, group: 40, session: 40 };
  const all = [below, far, near, own, stranger];
  const select = (ownsSession: boolean, relay: string | null) =>
    selectTrees(all, [{ pid: own.pid, ownsSession }], relay);

  test("has all descendants, in other sessions too, whatever the order of the list", () => {
    expect(select(false, null)).toEqual([below, far, near, own]);
  });

  test("ends at what a program that passes signals on has put into another session", () => {
    expect(select(false, process.execPath)).toEqual([near, own]);
    expect(select(false, "/another/program")).toEqual([below, far, near, own]);
  });

  test("has all in a session or group that its root leads, whoever their parents are", () => {
    const adopted = { pid: 900_005, parent: 1, group: 50, session: own.pid };
    const grouped = { pid: 900_006, parent: 1, group: own.pid, session: 60 };
    const roots = (ownsSession: boolean) => [{ pid: own.pid, ownsSession }];
    expect(selectTrees([own, adopted, grouped], roots(true), null)).toEqual([own, adopted, grouped]);
    expect(selectTrees([own, adopted, grouped], roots(false), null)).toEqual([own]);
  });
});
