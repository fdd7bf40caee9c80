// Both ways to read the process table return the same: /proc, and ps, which macOS has.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readPs, readProc, selectTrees } from "../../platform/processes/posix/process-table.ts";
import { waitUntil } from "../support/processes.ts";

// One child in this group, one with its own group, one with its own session; each prints its process id.
const TREE = `
  sleep 1000 & echo $!
  set -m; sleep 1000 & echo $!; set +m
  setsid sh -c 'echo $$; exec sleep 1000' &
  wait`;

test.skipIf(process.platform !== "linux")("ps and getsid return the same processes as /proc", async () => {
  const root = Bun.spawn(["bash", "-c", TREE], { stdin: "ignore", stdout: "pipe", detached: true });
  const members = [root.pid];
  try {
    let text = "";
    for await (const chunk of root.stdout) {
      text += new TextDecoder().decode(chunk);
      if (text.split("\n").length > 3) break;
    }
    members.push(...text.trim().split("\n").map(Number));
    const pick = (entries: ReturnType<typeof readPs>) =>
      selectTrees(entries, [{ pid: root.pid, ownsSession: true }], null)
        .map(({ pid, parent, group, session }) => ({ pid, parent, group, session }))
        .sort((a, b) => a.pid - b.pid);
    const seen = pick(readPs());
    expect(seen.map(({ pid }) => pid)).toEqual(members.toSorted((a, b) => a - b));
    expect(seen).toEqual(pick(readProc()));
    expect(new Set(seen.map(({ session }) => session)).size).toBe(2);
    expect(new Set(seen.map(({ group }) => group)).size).toBe(3);
  } finally {
    for (const pid of members) process.kill(pid, "SIGKILL");
  }
});

test.skipIf(process.platform !== "linux")("the process table omits zombies", async () => {
  const root = Bun.spawn(["bash", "-c", "sleep 1000 & echo $!; exec sleep 1000"], {
    stdin: "ignore",
    stdout: "pipe",
  });
  try {
    const { value } = await root.stdout.getReader().read();
    const zombie = Number(Buffer.from(value!).toString());
    await waitUntil(() => readFileSync(`/proc/${root.pid}/cmdline`, "utf8").startsWith("sleep"));
    process.kill(zombie, "SIGKILL");
    await waitUntil(() => / Z /.test(readFileSync(`/proc/${zombie}/stat`, "utf8")));
    for (const entries of [readProc(), readPs()]) {
      const numbers = entries.map(({ pid }) => pid);
      expect([numbers.includes(root.pid), numbers.includes(zombie)]).toEqual([true, false]);
    }
  } finally {
    root.kill("SIGKILL");
  }
});
