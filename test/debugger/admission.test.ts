// Access control of the debugger: it rejects other origins, DNS rebinding and guessed paths.
import { expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { openDebugger } from "../options/debugger.ts";
import { startLive } from "../options/live.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { enable, startDebugged } from "./chrome-client.ts";

const IDLE = { "a.ts": 'console.log("running", process.execArgv.join()); setInterval(() => {}, 1000);' };

test("the debugger accepts only this machine's host names and the origins of debuggers", async () => {
  await using project = await createProject(IDLE);
  const env = { XDG_RUNTIME_DIR: undefined, TMPDIR: project.path };
  const { live, port, url } = await startDebugged(project, ["--inspect=localhost:0", "a.ts"], env);
  await using _live = live;
  const [, webkit] = await live.see(/(?=[^]*?For Web Inspector: (ws:\S+) or)/);
  await live.see("running --inspect=localhost:0");
  const id = url.slice(url.lastIndexOf("/"));

  const request = async (path: string, headers: Record<string, string> = {}, host = "127.0.0.1") => {
    const answer = await fetch(`http://${host}:${port}${path}`, { headers });
    return { status: answer.status, body: answer.ok ? await answer.json() : await answer.text() };
  };
  for (const host of ["127.0.0.1", "[::1]"]) {
    const { body } = await request("/json/list", {}, host);
    expect(body).toMatchObject([
      { type: "node", title: project.join("a.ts"), webSocketDebuggerUrl: `ws://${host}:${port}${id}` },
    ]);
    // Pages from the web may use Web Inspector's path, so no response contains it.
    expect(JSON.stringify(body)).not.toContain(new URL(webkit!).pathname);
  }
  for (const host of ["localhost:1", "LocalHost:1"])
    expect((await request("/json/version", { Host: host })).body).toMatchObject({
      "Protocol-Version": "1.3",
    });
  const { body: protocol } = await request("/json/protocol");
  const runtime = protocol.domains.find(({ domain }: any) => domain === "Runtime");
  expect(runtime.commands).toContainEqual({ name: "evaluate" });
  expect(runtime.events).toContainEqual({ name: "consoleAPICalled" });

  for (const host of ["evil.example", `evil.example:${port}`, "foo.localhost", "localhost.evil.example", ""])
    for (const path of ["/json/list", "/json/version", id])
      expect((await request(path, { Host: host })).status).toBe(400);
  for (const origin of [
    "https://evil.example",
    "http://localhost:3000",
    "http://devtools:3000",
    "null",
    "https://debug.bun.sh.evil.example",
  ])
    for (const path of ["/json/list", "/json/protocol", id])
      expect((await request(path, { Origin: origin })).status).toBe(403);
  // The form of a foreign page sends a POST without a preflight request.
  for (const [headers, status] of [
    [{ Origin: "https://evil.example" }, 403],
    [{}, 405],
  ] as const) {
    const posted = await fetch(`http://127.0.0.1:${port}${id}`, { method: "POST", body: "{}", headers });
    expect(posted.status).toBe(status);
  }
  for (const path of ["/", "/json/new", `/${crypto.randomUUID()}`, `${id}x`])
    expect((await request(path)).status).toBe(404);

  const connects = async (address: string, headers: Record<string, string>) => {
    const client = await openDebugger(address, headers).catch(() => undefined);
    client?.[Symbol.dispose]();
    return client !== undefined;
  };
  expect(await connects(url, {})).toBe(true);
  expect(await connects(url, { Origin: "devtools://devtools" })).toBe(true);
  expect(await connects(url, { Origin: "https://evil.example" })).toBe(false);
  expect(await connects(url, { Host: "evil.example" })).toBe(false);
  expect(await connects(webkit!, { Origin: "https://debug.bun.sh" })).toBe(true);
  expect(await connects(webkit!, { Origin: "https://evil.example" })).toBe(false);

  // Only this user can reach the engine's own debugger.
  const directory = project.join(`rt-files-${process.getuid!()}`);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(readdirSync(directory).filter((name) => name.startsWith("debug-")).length).toBe(1);
});

test("--inspect fails for a used address and warns about one open to other machines", async () => {
  await using project = await createProject({ "a.ts": "console.log('ran'); setInterval(() => {}, 1000);" });
  const run = async (...args: string[]) => await runRt({ args, cwd: project.path });
  {
    // A program that ends at once may end before its debugger has started.
    await using live = startLive({ args: ["--inspect=0.0.0.0:0", "a.ts"], cwd: project.path });
    await waitUntil(() => live.output.includes("ran\n"));
    await live.see("\nwarning: anyone who can reach 0.0.0.0 can run code as you\n");
  }
  using taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  for (const option of ["--inspect", "--inspect-wait", "--inspect-brk"])
    expect(await run(`${option}=127.0.0.1:${taken.port}`, "a.ts")).toEqual({
      stdout: "",
      stderr:
        `error: Cannot debug at 127.0.0.1:${taken.port}: the address is in use\n` +
        "hint: use another port, for example --inspect=0 for any free one\n",
      status: 1,
    });
});

test("two programs are debugged at once", async () => {
  await using project = await createProject(IDLE);
  const one = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
  await using _one = one.live;
  const two = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
  await using _two = two.live;
  for (const { url, live } of [one, two]) {
    await live.see("running");
    using client = await openDebugger(url);
    enable(client);
    const { result } = await client.send("Runtime.evaluate", { expression: "process.pid" });
    expect(result.value).toBe(live.pid);
  }
});
