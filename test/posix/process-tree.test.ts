// Children of a run of many, as far as only this process can tell: its own descriptors.
import { expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { operations as trees } from "../../platform/posix/process-tree.ts";

/** The ends of pipes that this process holds. */
function countPipes(): number {
  return readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).startsWith("pipe:");
    } catch {
      return false; // the one that the list was read through
    }
  }).length;
}

function start(program: string, args: readonly string[], output: "merged" | "separate") {
  let text = "";
  const child = trees.startChild({
    program,
    argv: [program, ...args],
    cwd: "/",
    env: {},
    output,
    inheritStdin: false,
    onOutput: (bytes, isError) => void (text += `${isError ? "error" : "output"} ${Buffer.from(bytes)}`),
  });
  return { child, text: () => text };
}

test.skipIf(process.platform !== "linux")(
  "a child costs the reading ends of its pipes, and none when it has ended",
  async () => {
    await start("/bin/sh", ["-c", ""], "merged").child.done; // and with it what guards all children
    const before = countPipes();
    for (const [output, ends] of [
      ["merged", 1],
      ["separate", 2],
    ] as const) {
      const { child, text } = start("/bin/sh", ["-c", "echo a; echo b >&2"], output);
      expect(countPipes()).toBe(before + ends);
      expect(await child.done).toMatchObject({ code: 0 });
      expect(countPipes()).toBe(before);
      expect(text()).toBe(output === "merged" ? "output a\nb\n" : "output a\nerror b\n");
    }
  },
);

test.skipIf(process.platform !== "linux")(
  "a program that cannot be started leaves no descriptor open",
  () => {
    const before = countPipes();
    for (const output of ["merged", "separate"] as const)
      expect(() => start("/proc/self/absent", [], output)).toThrow("ENOENT");
    expect(countPipes()).toBe(before);
  },
);
