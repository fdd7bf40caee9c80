// --inspect, --inspect-wait, --inspect-brk and BUN_INSPECT, as editors use them.
import { dirname } from "node:path";
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { SourceMap } from "node:module";
import { freePort } from "../support/servers/ports.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { attach, type Debugger, openDebugger } from "./debugger.ts";
import { type Live, startLive } from "./live.ts";
import { prove, runIn } from "./prove.ts";

const SOURCE = `interface Sum {
  a: number;
}

function add({ a }: Sum): number {
  const answer: number = a + 1;
  const twice: number = answer * 2;
  return twice;
}

console.log("result", add({ a: 41 }), typeof rt.secrets.get);
`;
const FIRST_LINE = 11; // the first line that runs
const BREAK_LINE = 7; // "const twice", where \`answer\` has its value

/** Where Web Inspector and the engine's VS Code extension connect. */
const WEBKIT = /For Web Inspector: (ws:\/\/\S+)/;

async function connect(live: Live): Promise<Debugger> {
  const [, url] = await live.see(WEBKIT);
  return await openDebugger(url!);
}

/** Returns the line of the generated code for a line of the source, by the debugger's source map. */
function generatedLine(script: { sourceMapURL: string }, sourceLine: number): number {
  const payload = JSON.parse(atob(script.sourceMapURL.slice(script.sourceMapURL.indexOf(",") + 1)));
  const map = new SourceMap(payload);
  for (let line = 0; line < 100; line += 1) {
    const entry = map.findEntry(line, 8) as { originalLine?: number; generatedLine?: number };
    if (entry.generatedLine === line && entry.originalLine === sourceLine - 1) return line;
  }
  throw new Error(`line ${sourceLine} is not in the source map`);
}

/** Debugs from the pause at the first line to the end: breakpoint, local variable, step, resume, console. */
async function debugThrough(client: Debugger): Promise<void> {
  const atFirst = await client.event("Debugger.paused");
  const script = await client.event("Debugger.scriptParsed", ({ url }) => url.endsWith("/a.ts"));
  const { scriptId } = script;
  const lineNumber = generatedLine(script, FIRST_LINE);
  expect(atFirst.callFrames[0].location).toMatchObject({ scriptId, lineNumber });
  const line = generatedLine(script, BREAK_LINE);
  const location = { scriptId: script.scriptId, lineNumber: line, columnNumber: 0 };
  await client.send("Debugger.setBreakpoint", { location });
  await client.send("Debugger.resume");
  const atBreakpoint = await client.event("Debugger.paused");
  const [frame] = atBreakpoint.callFrames;
  expect([frame.functionName, frame.location.lineNumber]).toEqual(["add", line]);
  const evaluate = async (expression: string) => {
    const { callFrameId } = frame;
    return (await client.send("Debugger.evaluateOnCallFrame", { callFrameId, expression })).result.value;
  };
  expect(await evaluate("answer")).toBe(42);
  await client.send("Debugger.stepOver");
  const afterStep = await client.event("Debugger.paused");
  expect(afterStep.callFrames[0].location.lineNumber).toBe(line + 1);
  await client.send("Debugger.resume");
  const { message } = await client.event("Console.messageAdded", (each) =>
    each.message.text.includes("result"),
  );
  expect(message.parameters.map((each: { value: unknown }) => each.value)).toEqual([
    "result",
    84,
    "function",
  ]);
}

describe("the debugger", () => {
  prove(
    "inspect-brk",
    "pauses at the first line and at a breakpoint in TypeScript, steps and resumes",
    async () => {
      await using project = await createProject({ "a.ts": SOURCE });
      await using live = startLive({
        args: ["--inspect-brk=127.0.0.1:0/debug-me", "a.ts"],
        cwd: project.path,
      });
      const [, url] = await live.see(WEBKIT);
      expect(url).toEndWith("/debug-me");
      using client = await openDebugger(url!);
      await attach(client);
      await client.send("Inspector.initialized");
      await debugThrough(client);
      await live.see("result 84 function");
    },
  );

  prove("inspect-wait", "starts when a client requests it", async () => {
    await using project = await createProject({ "a.ts": SOURCE });
    await using live = startLive({ args: ["--inspect-wait=127.0.0.1:0", "a.ts"], cwd: project.path });
    using client = await connect(live);
    await attach(client);
    expect(live.output).not.toContain("result");
    await client.send("Inspector.initialized");
    await live.see("result 84 function");
  });

  prove("inspect", "lets the program run while clients connect and disconnect", async () => {
    await using project = await createProject({
      "a.ts":
        'globalThis.state = { loads: 1 }; console.log("running", typeof rt.secrets.get); setInterval(() => {}, 1000);',
    });
    await using live = startLive({ args: ["--inspect=127.0.0.1:0/again", "a.ts"], cwd: project.path });
    const [, url] = await live.see(WEBKIT);
    await waitUntil(() => live.output.includes("running function"));
    for (let visit = 1; visit <= 3; visit += 1) {
      using client = await openDebugger(url!);
      await attach(client);
      const { result } = await client.send("Runtime.evaluate", { expression: "state.loads++" });
      expect(result.value).toBe(visit);
      const { result: kind } = await client.send("Runtime.evaluate", { expression: "typeof rt.secrets.get" });
      expect(kind.value).toBe("function");
    }
  });

  prove("inspect", "takes a port, a host with a port, and a path", async () => {
    await using project = await createProject({ "a.ts": "setInterval(() => {}, 1000)" });
    const port = freePort();
    for (const [value, expected] of [
      [`${port}`, `:${port}/`],
      [`127.0.0.1:${port}`, `ws://127.0.0.1:${port}/`],
      [`127.0.0.1:${port}/path`, `ws://127.0.0.1:${port}/path`],
      [`ws://127.0.0.1:${port}/path`, `ws://127.0.0.1:${port}/path`],
    ]) {
      await using live = startLive({ args: [`--inspect=${value}`, "a.ts"], cwd: project.path });
      const [, url] = await live.see(WEBKIT);
      expect(url).toContain(expected);
    }
  });

  prove("inspect", "works with workers, which have rt", async () => {
    await using project = await createProject({
      "a.ts":
        'const worker = new Worker("./w.ts"); worker.onmessage = ({ data }) => { console.log("worker says", data); process.exit(); };',
      "w.ts": "postMessage(typeof rt.secrets.get)",
    });
    await using live = startLive({ args: ["--inspect=127.0.0.1:0", "a.ts"], cwd: project.path });
    await live.see("worker says function");
  });

  test("--inspect leaves no variable of rt in the program's environment", async () => {
    await using project = await createProject({
      "a.ts": `console.log("has", Object.keys(process.env).filter((name) => name.startsWith("RT_")).join());
        console.log("hands on", Bun.spawnSync(["env"]).stdout.toString().match(/^RT_\\w*/gm)?.join());`,
    });
    await using live = startLive({ args: ["--inspect=127.0.0.1:0", "a.ts"], cwd: project.path });
    expect((await live.see(/has (.*)\n/))[1]).toBe("RT_TEST_MARK"); // of the test itself
    expect((await live.see(/hands on (.*)\n/))[1]).toBe("RT_TEST_MARK");
  });

  // Without these settings the engine crashes one program in eight, when a breakpoint is set in a loop that is being compiled
  // concurrently.
  test("--inspect disables tail calls, concurrent and FTL compilation unless the user sets them, and hides the variables", async () => {
    const code = `import { readFileSync } from "node:fs";
      const find = (text: string) => text.match(/^BUN_JSC_.*$/gm)?.sort().join();
      const own = readFileSync("/proc/self/environ", "utf8").replaceAll("\\0", "\\n");
      const seen = Object.entries(process.env).map((entry) => entry.join("=")).join("\\n");
      console.log("is", find(own), find(seen), find(Bun.spawnSync(["env"]).stdout.toString()), "so");`;
    await using project = await createProject({ "a.ts": code });
    const see = async (args: string[], variable?: string) => {
      const env = variable ? { [`BUN_JSC_${variable}`]: "0" } : {};
      await using live = startLive({ args: [...args, "a.ts"], cwd: project.path, env });
      return (await live.see(/is (.*) so/))[1]!.replaceAll("BUN_JSC_", "");
    };
    const inspect = "--inspect=127.0.0.1:0";
    expect(await see([])).toBe("undefined undefined undefined");
    const [jit, tail] = ["useConcurrentJIT=0,useFTLJIT=0", "useTailCalls=0"];
    expect(await see([inspect])).toBe(`${jit},${tail} undefined undefined`);
    for (const name of ["useConcurrentJIT", "useFTLJIT"])
      expect(await see([inspect], name)).toBe(`${name}=0,${tail} ${name}=0 ${name}=0`);
    expect(await see([inspect], "useTailCalls")).toBe(`${jit},${tail} ${tail} ${tail}`);
  });

  prove("inspect-brk", "pauses again after each restart by --watch", async () => {
    await using project = await createProject({ "a.ts": SOURCE });
    const port = freePort();
    const args = ["--watch", `--inspect-brk=127.0.0.1:${port}/w`, "a.ts"];
    await using live = startLive({ args, cwd: project.path });
    for (let run = 1; run <= 3; run += 1) {
      const client = await connect(live);
      await attach(client);
      await client.send("Inspector.initialized");
      await debugThrough(client);
      await live.see("result 84 function");
      client[Symbol.dispose]();
      await project.write({ "a.ts": `${SOURCE}// ${run}\n` });
    }
  });
});

describe("BUN_INSPECT", () => {
  prove("inspect-wait", "is set by BUN_INSPECT with ?wait=1", async () => {
    await using project = await createProject({
      "a.ts": `const worker = new Worker("./w.ts"); worker.onmessage = ({ data }) => { console.log('worker says', data); process.exit(); };`,
      "w.ts": "postMessage(typeof rt.secrets.get)",
    });
    const port = freePort();
    const url = `ws://127.0.0.1:${port}/by-editor`;
    await using live = startLive({
      args: ["a.ts"],
      cwd: project.path,
      env: { BUN_INSPECT: `${url}?wait=1` },
    });
    let client: Debugger | undefined;
    await waitUntil(async () => (client = await openDebugger(url).catch(() => undefined)) !== undefined);
    await attach(client!);
    await client!.send("Inspector.initialized");
    await live.see("worker says function");
    client![Symbol.dispose]();
  });
});

describe("rt debug-config", () => {
  test("rt debug-config vscode writes a launch configuration that starts rt", async () => {
    await using project = await createProject({});
    const { cleanEnvironment, runRt, RT } = await import("../support/rt.ts");
    const PATH = `${dirname(RT)}:${cleanEnvironment().PATH}`;
    const first = await runRt({ args: ["debug-config", "vscode"], cwd: project.path, env: { PATH } });
    expect([first.status, first.stderr]).toEqual([0, ""]);
    const { configurations } = await Bun.file(project.join(".vscode/launch.json")).json();
    expect(configurations.map((each: { request: string }) => each.request)).toEqual([
      "launch",
      "launch",
      "attach",
    ]);
    expect(configurations[0]).toMatchObject({ type: "node", runtimeExecutable: "rt", program: "${file}" });
  });

  test("rt debug-config names the folder of rt when the editor finds no rt in PATH", async () => {
    await using project = await createProject({});
    const { runRt, RT } = await import("../support/rt.ts");
    const PATH = "/usr/bin:/bin";
    const { stdout, status } = await runRt({
      args: ["debug-config", "vscode"],
      cwd: project.path,
      env: { PATH },
    });
    expect(status).toBe(0);
    expect(stdout).toEndWith(`\nrt is not in PATH, where the editor searches for it: add ${dirname(RT)}\n`);
  });

  test("rt debug-config writes what WebStorm, Zed, nvim-dap and Helix read", async () => {
    const { runRt } = await import("../support/rt.ts");
    const write = async (editor: string, file: string) => {
      await using project = await createProject({});
      const { status, stdout } = await runRt({ args: ["debug-config", editor], cwd: project.path });
      expect([status, stdout]).toEqual([
        0,
        expect.stringMatching(new RegExp(`^Wrote ${RegExp.escape(file)}; `)),
      ]);
      const again = await runRt({ args: ["debug-config", editor], cwd: project.path });
      expect([again.status, again.stdout]).toEqual([1, expect.stringContaining("already exists")]);
      return await Bun.file(project.join(file)).text();
    };
    const started = { type: "pwa-node", request: "launch", runtimeExecutable: "rt" };
    const joined = { type: "pwa-node", request: "attach", address: "127.0.0.1", port: 9229 };
    expect(JSON.parse(await write("zed", ".zed/debug.json"))).toMatchObject([started, joined]);
    const nvim = JSON.parse(await write("nvim", ".vscode/launch.json"));
    expect(nvim.configurations).toMatchObject([started, started, joined]);
    expect(await write("webstorm", ".run/rt.run.xml")).toMatch(
      /type="ChromiumRemoteDebugType".* port="9229"/,
    );
    const { language } = Bun.TOML.parse(await write("helix", ".helix/languages.toml")) as any;
    expect(language.map(({ name }: any) => name)).toEqual(["typescript", "javascript"]);
    expect(
      language[0].debugger.templates.map(({ request, args }: any) => ({ request, ...args })),
    ).toMatchObject([started, { ...joined, port: "{0}" }]);
  });

  test("rt debug-config keeps an existing launch.json and prints what to add", async () => {
    await using project = await createProject({ ".vscode/launch.json": "// mine" });
    const { runRt } = await import("../support/rt.ts");
    const { status, stdout } = await runRt({ args: ["debug-config", "vscode"], cwd: project.path });
    expect([status, stdout.includes('"attach"')]).toEqual([1, true]);
    expect(await Bun.file(project.join(".vscode/launch.json")).text()).toBe("// mine");
  });

  test("rt debug-config does not write through a symlink of the project", async () => {
    await using project = await createProject({ "a/.vscode/settings.json": {}, "b/x": "", "outside/x": "" });
    const { runRt } = await import("../support/rt.ts");
    const run = async (cwd: string) => await runRt({ args: ["debug-config", "vscode"], cwd });
    await symlink(project.join("elsewhere"), project.join("a/.vscode/launch.json"));
    expect(await run(project.join("a"))).toMatchObject({
      stdout: expect.stringMatching(/^.vscode\/launch.json already exists; /),
      status: 1,
    });
    expect(existsSync(project.join("elsewhere"))).toBe(false);
    await symlink(project.join("outside"), project.join("b/.vscode"));
    expect(await run(project.join("b"))).toEqual({
      stdout: "",
      stderr: `error: Cannot write ${project.join("b")}/.vscode/launch.json: .vscode is a symlink\nhint: replace it with a folder\n`,
      status: 1,
    });
    expect(existsSync(project.join("outside/launch.json"))).toBe(false);
  });

  test("rt debug-config lists the supported editors", async () => {
    for (const args of [["debug-config"], ["debug-config", "ed"]]) {
      const { status, stderr } = await runIn({}, args);
      expect([status, stderr]).toEqual([
        1,
        expect.stringContaining("hint: use one of: rt debug-config vscode, rt debug-config webstorm, "),
      ]);
    }
  });
});
