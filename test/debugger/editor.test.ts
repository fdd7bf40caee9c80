// VSCODE_INSPECTOR_OPTIONS, which VS Code's debugger sets. A fake editor uses its protocol.
// "Run and Debug" and the debug terminal use the socket itself as the connection; auto-attach asks for an address.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { openDebugger } from "../options/debugger.ts";
import { startLive } from "../options/live.ts";
import { createProject, type Project } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { placeOf } from "./chrome-client.ts";

const SOURCE = `interface Sum {
  a: number;
}

function add({ a }: Sum): number {
  const answer: number = a + 1;
  return answer * 2;
}

console.log("result", add({ a: 20 }), process.execArgv.length);
`;

/** One program that connected to the editor's socket. */
interface Target {
  readonly info: any;
  send(method: string, params?: object): Promise<any>;
  event(method: string): Promise<any>;
  leave(): void;
}

class Editor implements AsyncDisposable {
  readonly path: string;
  /** Resolves with the data of the first deferred connection. */
  readonly announced = Promise.withResolvers<any>();
  answer = 0;
  /** Number of programs that connected. */
  arrivals = 0;
  readonly #targets: Target[] = [];
  #arrived = Promise.withResolvers<void>();
  readonly #listener;

  constructor(project: Project) {
    this.path = project.join("e.sock");
    // oxlint-disable-next-line typescript/no-this-alias -- the handlers have another `this`
    const editor = this;
    interface State {
      rest: string;
      receive: (message: any) => void;
    }
    this.#listener = Bun.listen<State>({
      unix: this.path,
      socket: {
        open(socket) {
          const answers = new Map<number, (result: any) => void>();
          const events: any[] = [];
          let arrived = Promise.withResolvers<void>();
          let lastId = 0;
          const target: Target = {
            info: undefined,
            send(method, params = {}) {
              socket.write(`${JSON.stringify({ id: (lastId += 1), method, params })}\0`);
              return new Promise((resolve) => answers.set(lastId, resolve));
            },
            async event(method) {
              for (;;) {
                const index = events.findIndex((each) => each.method === method);
                if (index >= 0) return events.splice(index, 1)[0].params;
                await arrived.promise;
              }
            },
            leave: () => socket.end(),
          };
          socket.data = {
            rest: "",
            receive(message) {
              if (message.inspectorURL !== undefined) {
                editor.arrivals += 1;
                socket.write(new Uint8Array([editor.answer]));
                editor.announced.resolve(message);
              } else if (message.method === "Target.targetCreated") {
                editor.arrivals += 1;
                Object.assign(target, { info: message.params.targetInfo });
                editor.#targets.push(target);
                editor.#arrived.resolve();
                editor.#arrived = Promise.withResolvers();
              } else if (message.id !== undefined) {
                answers.get(message.id)!(message.result);
              } else {
                events.push(message);
                arrived.resolve();
                arrived = Promise.withResolvers();
              }
            },
          };
        },
        data({ data: state }, bytes) {
          const texts = (state.rest + bytes.toString()).split("\0");
          state.rest = texts.pop()!;
          for (const text of texts) state.receive(JSON.parse(text));
        },
      },
    });
  }

  variables(options: object = {}, before = ""): Record<string, string> {
    const all = { inspectorIpc: this.path, deferredMode: false, autoAttachMode: "always", ...options };
    return { VSCODE_INSPECTOR_OPTIONS: `${before}:::${JSON.stringify(all)}` };
  }

  /** Returns the next program that connects, after the requests that begin every session. */
  async target(): Promise<Target> {
    while (this.#targets.length === 0) await this.#arrived.promise;
    const target = this.#targets.shift()!;
    const { targetId } = target.info;
    expect(await target.send("Target.attachToTarget", { targetId })).toEqual({ sessionId: targetId });
    void target.send("Runtime.enable");
    void target.send("Debugger.enable");
    return target;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.stop(true);
  }
}

async function stopIn(target: Target, file: string, line: number): Promise<void> {
  const url = pathToFileURL(file).href;
  await target.send("Debugger.setBreakpointByUrl", { url, lineNumber: line - 1, columnNumber: 0 });
  void target.send("Runtime.runIfWaitingForDebugger");
  expect(placeOf(await target.event("Debugger.paused"))).toBe(`add:${line}`);
  void target.send("Debugger.resume");
}

describe("with a waiting VS Code", () => {
  test("the debugger attaches to a file, also through a script, and to the programs that it starts", async () => {
    const parent = `import { spawnSync } from "node:child_process";
const { stdout } = spawnSync(process.execPath, ["a.ts"]);
console.log("parent", String(stdout).trim());
`;
    await using project = await createProject({
      "a.ts": SOURCE,
      "parent.ts": parent,
      "package.json": { scripts: { dev: "rt parent.ts" } },
    });
    await using editor = new Editor(project);
    const env = { ...editor.variables({ fileCallback: project.join("told") }), PATH: process.env.PATH };
    await using live = startLive({ args: ["run", "--rt", "dev"], cwd: project.path, env });
    const outer = await editor.target();
    expect(outer.info).toMatchObject({ type: "waitingForDebugger", title: project.join("parent.ts") });
    expect(await Bun.file(project.join("told")).json()).toMatchObject({ processId: outer.info.processId });
    void outer.send("Runtime.runIfWaitingForDebugger");
    const inner = await editor.target();
    expect(inner.info).toMatchObject({ title: project.join("a.ts"), openerId: outer.info.targetId });
    await stopIn(inner, project.join("a.ts"), 7);
    await live.see("parent result 42 0");
    await inner.event("Target.targetDestroyed");
    await outer.event("Runtime.executionContextDestroyed");
    expect(await live.ended).toBe(0);
    expect(live.output).not.toContain("Debugger listening");
  });

  test("a program answers a request for its address, and runs when the editor disconnects or refuses it", async () => {
    await using project = await createProject({ "a.ts": SOURCE });
    await using editor = new Editor(project);
    const smart = {
      deferredMode: true,
      autoAttachMode: "smart",
      aaPatterns: [`${project.path}/**`, "!**/node_modules/**"],
    };
    {
      await using live = startLive({ args: ["a.ts"], cwd: project.path, env: editor.variables(smart) });
      const { inspectorURL, scriptName, pid, ownId } = await editor.announced.promise;
      expect([scriptName, pid, typeof ownId]).toEqual([project.join("a.ts"), `${live.pid}`, "string"]);
      using client = await openDebugger(inspectorURL);
      void client.send("Runtime.runIfWaitingForDebugger");
      await live.see("result 42");
    }
    editor.answer = 1;
    const run = async (env: Record<string, string>, ...args: string[]) =>
      await runRt({ args: [...args, "a.ts"], cwd: project.path, env });
    const done = { stdout: "result 42 0\n", stderr: "", status: 0 };
    expect(await run(editor.variables(smart))).toEqual(done);
    {
      await using live = startLive({ args: ["a.ts"], cwd: project.path, env: editor.variables() });
      (await editor.target()).leave();
      await live.see("result 42");
    }
    expect(editor.arrivals).toBe(3);
    // These options exclude this program, or their lease has expired.
    const lease = Buffer.alloc(8);
    lease.writeDoubleBE(Date.now() - 1);
    await project.write({ "old-lease": lease });
    for (const options of [
      { autoAttachMode: "onlyWithFlag" },
      { autoAttachMode: undefined },
      { ...smart, aaPatterns: [`${project.path}/**`, "!**/a.ts"] },
      { waitForDebugger: "/b\\.ts$" },
      { requireLease: project.join("no-lease") },
      { requireLease: project.join("old-lease") },
      { inspectorIpc: project.join("gone.sock") },
      { inspectorIpc: 1 },
    ])
      expect(await run(editor.variables(options))).toEqual(done);
    for (const VSCODE_INSPECTOR_OPTIONS of ["", ":::", "{", "null", "[]"])
      expect(await run({ VSCODE_INSPECTOR_OPTIONS })).toEqual(done);
    expect(editor.arrivals).toBe(3);
  });

  test("rt ignores VSCODE_INSPECTOR_OPTIONS from a .env file", async () => {
    await using project = await createProject({ "a.ts": SOURCE });
    await using editor = new Editor(project);
    const { VSCODE_INSPECTOR_OPTIONS } = editor.variables({ fileCallback: project.join("told") });
    const forged = `VSCODE_INSPECTOR_OPTIONS='${VSCODE_INSPECTOR_OPTIONS}'\nRT_DEBUGGER='{"socket":"/x","isWaiting":true}'\n`;
    await project.write({ ".env": forged });
    for (const args of [["a.ts"], ["--smol", "a.ts"], ["-e", "console.log('result', 42)"], ["run", "a.ts"]]) {
      const { stdout, stderr, status } = await runRt({ args, cwd: project.path });
      expect([stdout.startsWith("result 42"), stderr, status]).toEqual([true, "", 0]);
    }
    expect(existsSync(project.join("told"))).toBe(false);
  });
});
