// rt --inspect with tests, -e, standard input, --watch and child processes, and with Node.js's own client.
import { expect, test } from "bun:test";
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { findProgram } from "../../build/system-programs.ts";
import { openDebugger } from "../options/debugger.ts";
import { startLive } from "../options/live.ts";
import { waitUntil } from "../support/processes.ts";
import { freePort } from "../support/servers/ports.ts";
import { placeRt } from "../support/programs/programs.ts";
import { createProject } from "../support/project.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../support/users.ts";
import { enable, placeOf, setBreakpoint, startDebugged } from "./chrome-client.ts";

const SOURCE = `interface Sum {
  a: number;
}

function add({ a }: Sum): number {
  const answer: number = a + 1;
  return answer * 2;
}

console.log("result", add({ a: 20 }));
`;

test("node inspect pauses, sets a breakpoint, evaluates, profiles, takes a heap snapshot and lets the program end", async () => {
  await using project = await createProject({ "a.ts": SOURCE });
  const { live, port } = await startDebugged(project, ["--inspect-brk=127.0.0.1:0", "a.ts"]);
  await using _live = live;
  const node = findProgram("node");
  await using client = Bun.spawn([node, "inspect", `127.0.0.1:${port}`], {
    cwd: project.path,
    stdin: "pipe",
    stdout: "pipe",
    env: { PATH: process.env.PATH },
  });
  const decoder = new TextDecoder();
  const reader = client.stdout.getReader();
  let output = "";
  const see = async (pattern: RegExp) => {
    for (;;) {
      const match = pattern.exec(output);
      if (match) return void (output = output.slice(match.index + match[0].length));
      const { value, done } = await reader.read();
      if (done) throw new Error(`${pattern} was not seen in: ${output}`);
      output += decoder.decode(value);
    }
  };
  const writeLine = (line: string) => client.stdin.write(`${line}\n`);
  await see(/Break on start in (?:.*[\\/])?a\.ts:10\n[\s\S]*debug> /);
  void writeLine("sb('a.ts', 7)");
  await see(/> 7 {3}return answer \* 2;|debug> /);
  void writeLine("c");
  await see(/break in (?:.*[\\/])?a\.ts:7\n/);
  void writeLine("exec answer");
  await see(/\b21\b/);
  void writeLine("bt");
  await see(/#0 add (?:.*[\\/])?a\.ts:7:\d+\n#1 .*a\.ts:10:\d+/);
  void writeLine("profile");
  void writeLine("profileEnd");
  await see(/\[Profile [\d.]+/);
  void writeLine("takeHeapSnapshot('a.heapsnapshot')");
  await see(/Wrote snapshot: /);
  const { snapshot, nodes } = await Bun.file(project.join("a.heapsnapshot")).json();
  expect(nodes.length).toBe(snapshot.node_count * snapshot.meta.node_fields.length);
  void writeLine("c");
  await live.see("result 42");
  expect(await live.ended).toBe(0);
});

test("--inspect works with rt test and with -e", async () => {
  const tested = `import { test } from "bun:test";

test("sum", () => {
  const answer: number = 42;
  console.log("tested", answer);
});
`;
  await using project = await createProject({ "a.test.ts": tested });
  const runs = [
    { args: ["test", "--inspect-wait=127.0.0.1:0", "a.test.ts"], line: 5 },
    { args: ["--inspect-wait=127.0.0.1:0", "-e", "console.log('tested', 42)"] },
  ];
  for (const { args, line } of runs) {
    const { live, url } = await startDebugged(project, args);
    await using _live = live;
    using client = await openDebugger(url);
    enable(client);
    if (line !== undefined) await setBreakpoint(client, pathToFileURL(project.join("a.test.ts")).href, line);
    // The program may exit before the response arrives.
    void client.send("Runtime.runIfWaitingForDebugger");
    if (line !== undefined) {
      expect(placeOf(await client.event("Debugger.paused"))).toEndWith(`:${line}`);
      void client.send("Debugger.resume");
    }
    await live.see("tested 42");
    expect(await live.ended).toBe(0);
  }
});

test("--watch keeps the debugger's port over restarts, and the program pauses there again", async () => {
  await using project = await createProject({ "a.ts": SOURCE });
  const port = freePort();
  const { live, url } = await startDebugged(project, ["--watch", `--inspect-wait=127.0.0.1:${port}`, "a.ts"]);
  await using _live = live;
  let address = url;
  for (let run = 1; run <= 3; run += 1) {
    using client = await openDebugger(address);
    enable(client);
    await setBreakpoint(client, pathToFileURL(project.join("a.ts")).href, 6);
    await client.send("Runtime.runIfWaitingForDebugger");
    expect(placeOf(await client.event("Debugger.paused"))).toBe("add:6");
    await client.send("Debugger.resume");
    await live.see("result 42");
    await project.write({ "a.ts": `${SOURCE}// ${run}\n` });
    const [, next] = await live.see(/Debugger listening on (ws:\/\/\S+)/);
    expect(new URL(next!).port).toBe(`${port}`);
    expect(next).not.toBe(address);
    address = next!;
  }
});

test("a child process with inherited --inspect options gets another port and does not wait", async () => {
  const source = `import { fork } from "node:child_process";
import cluster from "node:cluster";
import { existsSync } from "node:fs";

if (process.send) {
  console.log("child", process.execArgv.join());
  while (!existsSync(cluster.isWorker ? "worker" : "forked")) await Bun.sleep(10);
  process.exit(3);
}
fork(import.meta.filename).on("exit", (code) => {
  console.log("forked", code);
  cluster.fork().on("exit", (code) => console.log("worker", code));
});
`;
  await using project = await createProject({ "a.ts": source });
  for (const kind of ["", "-wait", "-brk"]) {
    const option = `--inspect${kind}=127.0.0.1:${freePort()}`;
    const { live, url } = await startDebugged(project, [option, "a.ts"]);
    await using _live = live;
    using client = kind === "" ? undefined : await openDebugger(url);
    void client?.send("Runtime.runIfWaitingForDebugger");
    const ports = () => {
      const addresses = [...live.output.matchAll(/Debugger listening on (ws:\S+)\n/g)];
      return new Set(addresses.map(([, address]) => new URL(address!).port));
    };
    // Without a client a program may end before its debugger has started.
    for (const [index, name] of ["forked", "worker"].entries()) {
      await waitUntil(() => ports().size === index + 2);
      await project.write({ [name]: "" });
      await live.see(`${name} 3`);
    }
    expect(await live.ended).toBe(0);
    expect(live.output.split("\n").filter((line) => /^(?:child|forked|worker) /.test(line))).toEqual([
      `child ${option}`,
      "forked 3",
      `child ${option}`,
      "worker 3",
    ]);
    for (const name of ["forked", "worker"]) await rm(project.join(name));
  }
});

test("the engine's socket is removed when its program exits, or by the next program after SIGKILL", async () => {
  await using project = await createProject({ "a.ts": "setInterval(() => {}, 1000);" });
  const env = { TMPDIR: project.path, XDG_RUNTIME_DIR: "" };
  const sockets = async () => {
    const names = await readdir(project.join(`rt-files-${process.getuid!()}`));
    return names.filter((name) => name.endsWith(".sock"));
  };
  const start = async () => await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"], env);
  const killed = await start();
  killed.live.kill("SIGKILL");
  await killed.live.ended;
  expect(await sockets()).toHaveLength(1);
  // No process can have these ids.
  for (const pid of [0, 2 ** 31, "9".repeat(20)])
    await project.write({ [`rt-files-${process.getuid!()}/rt-debug-${pid}-abcdef12.sock`]: "" });
  const left = await sockets();
  const { live, url } = await start();
  await waitUntil(async () => (await sockets()).every((name) => !left.includes(name)));
  expect(await sockets()).toHaveLength(1);
  using client = await openDebugger(url);
  void client.send("Runtime.evaluate", { expression: "process.exit()" });
  await live.ended;
  expect(await sockets()).toEqual([]);
});

test("the engine's socket is created in another directory when its directory is read-only", async () => {
  await using project = await createProject({ "a.ts": "console.log('ran'); setInterval(() => {}, 1000);" });
  const directory = project.join(`run/rt-files-${isRoot ? OTHER_USER_ID : process.getuid!()}`);
  await mkdir(directory, { recursive: true });
  if (isRoot) await Bun.$`chown -R ${OTHER_USER_ID}:${OTHER_USER_ID} ${project.path}`;
  // rt starts itself again. Another user cannot start it when the checkout is below a closed home directory.
  await placeRt(project.join("rt"));
  await chmod(project.join("run"), 0o700);
  await chmod(directory, 0o500);
  {
    await using live = startLive({
      program: [...AS_OTHER_USER, project.join("rt")],
      args: ["--inspect=127.0.0.1:0", "a.ts"],
      cwd: project.path,
      env: { XDG_RUNTIME_DIR: project.join("run") },
    });
    const expected = ["Debugger listening on ws:", "For Web Inspector: ", "ran"];
    await waitUntil(() => live.output.split("\n").length > expected.length);
    const lines = live.output.split("\n").toSorted();
    expect(lines).toEqual(["", ...expected.map((line) => expect.stringMatching(new RegExp(`^${line}`)))]);
  }
  await chmod(directory, 0o700);
});
