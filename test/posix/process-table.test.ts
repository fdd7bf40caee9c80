// The two ways to read the process table must see the same: /proc, and what macOS has instead.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { waitUntil } from "../support/processes.ts";
import { askPs, readProc, selectTrees } from "../../platform/posix/process-table.ts";

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

test.skipIf(process.platform !== "linux")(
  "what has ended and is not asked for yet counts no more",
  async () => {
    // The shell would ask; what takes its place does not know of the child.
    const script = "exec 3<&0; (read go <&3) & echo $!; exec sleep 1000";
    const parent = Bun.spawn(["sh", "-c", script], { stdin: "pipe", stdout: "pipe" });
    try {
      const { value } = await parent.stdout.getReader().read();
      const zombie = Number(new TextDecoder().decode(value));
      await waitUntil(() => readFileSync(`/proc/${parent.pid}/cmdline`, "latin1").startsWith("sleep"));
      void parent.stdin.write("\n");
      await parent.stdin.end();
      await waitUntil(() => readFileSync(`/proc/${zombie}/stat`, "latin1").split(") ").at(-1)![0] === "Z");
      for (const entries of [readProc(), askPs()]) {
        const pids = entries.map(({ pid }) => pid);
        expect(pids).toContain(parent.pid);
        expect(pids).not.toContain(zombie);
      }
    } finally {
      parent.kill("SIGKILL");
      await parent.exited;
    }
  },
);
