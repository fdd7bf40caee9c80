// chrome-remote-interface, which scripts and tools use for debugging: its usual calls, in Node.js.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { findProgram } from "../../build/system-programs.ts";
import { createProject } from "../support/project.ts";
import { startDebugged } from "./chrome-client.ts";

const SOURCE = `interface Sum {
  a: number;
}
function add({ a }: Sum): number {
  const answer: number = a + 1;
  return answer * 2;
}
class Held {}
Object.assign(globalThis, {
  held: new Held(),
  work() {
    for (let index = 0; index < 3e5; index += 1) add({ a: index });
  },
});
console.log("result", add({ a: 20 }));
setInterval(() => {}, 1000);
`;

test("chrome-remote-interface lists, evaluates, pauses, profiles, takes a heap snapshot and detects the program's exit", async () => {
  await using project = await createProject({ "a.ts": SOURCE });
  const { live, port } = await startDebugged(project, ["--inspect-wait=127.0.0.1:0", "a.ts"]);
  await using _live = live;
  const node = findProgram("node");
  const script = join(import.meta.dir, "remote-interface.mjs");
  await using client = Bun.spawn([node, script, `${port}`], { stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all(
    [client.stdout, client.stderr].map((stream) => new Response(stream).text()),
  );
  expect(stderr).toBe("");
  expect(JSON.parse(stdout!)).toEqual({
    target: { type: "node", title: "a.ts" },
    version: ["Browser", "Protocol-Version"],
    domains: expect.arrayContaining(["Debugger", "HeapProfiler", "Profiler", "Runtime"]),
    sum: 42,
    awaited: { a: [1] },
    thrown: "TypeError",
    refused: "'Runtime.none' wasn't found",
    isHit: true,
    place: ["add", 6],
    file: "a.ts",
    answer: 21,
    logged: ["result", 42],
    isProfile: true,
    isSnapshot: true,
  });
  expect(await live.ended).toBe(7);
});
