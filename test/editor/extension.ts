// A VS Code extension that uses the editor's debugger (breakpoints, F5, a debug terminal) and checks the results. Each check is a
// line of JSON in the file that run.ts reads.
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { lineOf } from "./project.ts";

interface Message {
  readonly session: vscode.DebugSession;
  readonly type: string;
  readonly event?: string;
  readonly command?: string;
  readonly body?: any;
}

const TIME_LIMIT = 60_000; // ms

const messages: Message[] = [];
let arrived = Promise.withResolvers<void>();

interface Program {
  readonly child: ChildProcess;
  /** The output so far. */
  text: string;
}
const programs: Program[] = [];

/** The current debug sessions, by id. The editor's own activeDebugSession may keep naming an ended session. */
const sessions = new Map<string, vscode.DebugSession>();
const ended = new Set<string>();

const results = process.env["RT_EDITOR_RESULTS"]!;
const folder = () => vscode.workspace.workspaceFolders![0]!;
const uriOf = (file: string) => vscode.Uri.file(join(folder().uri.fsPath, file));

function report(check: string, failure?: unknown): void {
  appendFileSync(
    results,
    `${JSON.stringify({ check, ...(failure === undefined ? {} : { failure: (failure as Error).toString() }) })}\n`,
  );
}

/** Wakes the waiting functions after a debugger message or program output. */
function notify(): void {
  arrived.resolve();
  arrived = Promise.withResolvers();
}

/** Resolves with the first result of `find`; after the time limit, rejects with the text of `describe`. */
async function waitFor<Found>(find: () => Found | undefined, describe: () => string): Promise<Found> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(describe())), TIME_LIMIT);
  try {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await Promise.race([arrived.promise, late.promise]);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves with the next message that `accept` accepts, and drops the messages before it. */
async function next(what: string, accept: (message: Message) => boolean): Promise<Message> {
  const names = () => messages.map(({ event: name, command }) => name ?? command).join(" ");
  return await waitFor(
    () => {
      const index = messages.findIndex(accept);
      return index < 0 ? undefined : messages.splice(0, index + 1).at(-1);
    },
    () => `waited for ${what}; there were ${names()}`,
  );
}

const event = (name: string, accept: (body: any) => boolean = () => true) =>
  next(name, (message) => message.event === name && accept(message.body ?? {}));

interface Frame {
  readonly id: number;
  readonly name: string;
  readonly line: number;
  readonly source?: { readonly path?: string };
}

interface Stop {
  readonly session: vscode.DebugSession;
  readonly threadId: number;
  readonly reason: string;
  readonly frames: readonly Frame[];
}

async function stop(): Promise<Stop> {
  const { session, body } = await event("stopped");
  const { threadId, reason } = body;
  const { stackFrames } = await session.customRequest("stackTrace", { threadId, startFrame: 0, levels: 20 });
  return { session, threadId, reason, frames: stackFrames };
}

async function resume(stopped: Stop, how: string): Promise<void> {
  await stopped.session.customRequest(how, { threadId: stopped.threadId });
}

function isEqual(actual: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (one !== other) throw new Error(`got ${one}, not ${other}`);
}

async function variablesOf({ session, frames }: Stop, scope: RegExp): Promise<any[]> {
  const { scopes } = await session.customRequest("scopes", { frameId: frames[0]!.id });
  const found = scopes.find(({ name }: any) => scope.test(name));
  if (!found) throw new Error(`no ${scope} among ${scopes.map(({ name }: any) => name)}`);
  return await childrenOf(session, found.variablesReference);
}

async function childrenOf(session: vscode.DebugSession, variablesReference: number): Promise<any[]> {
  return (await session.customRequest("variables", { variablesReference })).variables;
}

const findValue = (variables: any[], name: string) => variables.find((each) => each.name === name)?.value;

function breakpoint(file: string, mark: string, options: { condition?: string; log?: string } = {}): void {
  const location = new vscode.Location(uriOf(file), new vscode.Position(lineOf(file, mark) - 1, 0));
  const made = new vscode.SourceBreakpoint(location, true, options.condition, undefined, options.log);
  vscode.debug.addBreakpoints([made]);
}

const removeBreakpoints = () => vscode.debug.removeBreakpoints(vscode.debug.breakpoints);

/** Resolves when the program has no breakpoints any more. */
async function clear(): Promise<void> {
  removeBreakpoints();
  await next(
    "the end of all breakpoints",
    ({ type, command, body }) =>
      type === "response" && command === "setBreakpoints" && body?.breakpoints.length === 0,
  );
}

/** Resolves with the port of the program's debugger. */
async function startProgram(...args: string[]): Promise<number> {
  const { VSCODE_INSPECTOR_OPTIONS: _1, NODE_OPTIONS: _2, ...env } = process.env;
  const child = spawn(process.env["RT_EDITOR_PROGRAM"]!, args, { cwd: folder().uri.fsPath, env });
  const program: Program = { child, text: "" };
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      program.text += chunk;
      notify();
    });
  child.on("exit", notify);
  programs.push(program);
  await awaitOutput(program, "For Web Inspector: ");
  return Number(/ws:\/\/\S+?:(\d+)\//.exec(program.text)![1]);
}

/** Resolves when the program has written the text. */
async function awaitOutput(program: Program, text: string): Promise<void> {
  await waitFor(
    () => {
      if (program.text.includes(text)) return true;
      if (program.child.exitCode === null && program.child.signalCode === null) return undefined;
      throw new Error(`the program has ended: ${program.text}`);
    },
    () => `waited for ${text}; there was ${program.text}`,
  );
}

const attachTo = (port: number, options: object = {}) =>
  vscode.debug.startDebugging(folder(), {
    name: "attach",
    type: "node",
    request: "attach",
    address: "127.0.0.1",
    port,
    ...options,
  });

async function check(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
    report(name);
  } catch (error) {
    report(name, error);
    throw error;
  }
}

/** Ends all sessions, programs and terminals. */
async function endSessions(): Promise<void> {
  removeBreakpoints();
  // Stop before the program exits, because a session with `restart` would wait for it. Not awaited: the editor never answers for
  // a session that ends during the call.
  if (sessions.size > 0) void vscode.debug.stopDebugging();
  await waitFor(
    () => (sessions.size > 0 ? undefined : true),
    () => `${[...sessions.values()].map(({ name }) => name)} goes on`,
  );
  for (const { child } of programs.splice(0)) child.kill("SIGKILL");
  // A program in a terminal would continue without its debugger, and the next check would write into the terminal.
  for (const terminal of vscode.window.terminals) terminal.dispose();
  await waitFor(
    () => (vscode.window.terminals.length > 0 ? undefined : true),
    () => "a terminal does not close",
  );
  messages.length = 0;
}

/** The 24 checks of an editor that is attached to a running program. */
async function attached(): Promise<void> {
  const port = await startProgram("--inspect=127.0.0.1:0", "a.ts");
  breakpoint("a.ts", "// inner");
  await check("attach", async () => isEqual(await attachTo(port), true));
  await check("breakpoint-verified", async () => {
    await next("a breakpoint that is set", ({ type, event: name, command, body }) =>
      name === "breakpoint"
        ? body.breakpoint.verified === true
        : type === "response" && command === "setBreakpoints" && body?.breakpoints?.[0]?.verified === true,
    );
  });
  let pause!: Stop;
  await check("hit", async () => {
    pause = await stop();
    isEqual([pause.reason, pause.frames[0]!.line], ["breakpoint", lineOf("a.ts", "// inner")]);
  });
  await check("call-stack", async () => {
    const lines = pause.frames.slice(0, 2).map(({ name, line }) => [name.replace(/.*\./, ""), line]);
    isEqual(lines, [
      ["add", lineOf("a.ts", "// inner")],
      ["tick", lineOf("a.ts", "// call")],
    ]);
  });
  await check("step", async () => {
    await resume(pause, "next");
    pause = await stop();
    isEqual([pause.reason, pause.frames[0]!.line], ["step", lineOf("a.ts", "// inner") + 1]);
  });
  let answer = "";
  let ticks = "";
  await check("variable", async () => {
    const variables = await variablesOf(pause, /^Local/);
    answer = findValue(variables, "answer");
    ticks = findValue(variables, "a");
    isEqual(Number(answer), Number(ticks) + 10);
  });
  await check("variable-object", async () => {
    const object = (await variablesOf(pause, /^Local/)).find(({ name }) => name === "object");
    isEqual(findValue(await childrenOf(pause.session, object.variablesReference), "answer"), answer);
  });
  await check("module-variable", async () =>
    isEqual(findValue(await variablesOf(pause, /^Module/), "ticks"), ticks),
  );
  const evaluate = async (expression: string, context: string) =>
    await pause.session.customRequest("evaluate", { expression, context, frameId: pause.frames[0]!.id });
  await check("console-eval", async () => isEqual((await evaluate("answer - a", "repl")).result, "10"));
  await check("console-object", async () => {
    const { variablesReference } = await evaluate("({ one: 1, map: new Map([[1, 2]]) })", "repl");
    isEqual(findValue(await childrenOf(pause.session, variablesReference), "one"), "1");
  });
  await check("watch", async () => isEqual((await evaluate("top1.name", "watch")).result, "'module'"));
  await check("set-variable", async () => {
    const { scopes } = await pause.session.customRequest("scopes", { frameId: pause.frames[0]!.id });
    const { variablesReference } = scopes.find(({ name }: any) => /^Local/.test(name));
    await pause.session.customRequest("setVariable", { variablesReference, name: "answer", value: "500" });
    isEqual((await evaluate("answer", "repl")).result, "500");
  });
  await check("step-out", async () => {
    await resume(pause, "stepOut");
    pause = await stop();
    isEqual(pause.frames[0]!.name.replace(/.*\./, ""), "tick");
  });
  await check("continue", async () => {
    await resume(pause, "continue");
    pause = await stop();
    isEqual([pause.reason, pause.frames[0]!.line], ["breakpoint", lineOf("a.ts", "// inner")]);
  });
  await check("console-log", async () => {
    await clear();
    await resume(pause, "continue");
    await event("output", ({ output }) => /tick/.test(output));
  });
  await check("step-into", async () => {
    breakpoint("a.ts", "// call");
    pause = await stop();
    await resume(pause, "stepIn");
    pause = await stop();
    isEqual(pause.frames[0]!.name.replace(/.*\./, ""), "add");
    await clear();
    await resume(pause, "continue");
  });
  await check("pause", async () => {
    await pause.session.customRequest("pause", { threadId: pause.threadId });
    pause = await stop();
    isEqual(pause.reason, "pause");
    await resume(pause, "continue");
  });
  await check("conditional", async () => {
    breakpoint("a.ts", "// inner", { condition: "a % 7 === 0" });
    pause = await stop();
    isEqual(Number((await evaluate("a % 7", "repl")).result), 0);
    await clear();
    await resume(pause, "continue");
  });
  await check("logpoint", async () => {
    breakpoint("a.ts", "// inner", { log: "logged {answer > 0}" });
    await event("output", ({ output }) => /logged true/.test(output));
    await clear();
  });
  await check("exception", async () => {
    await pause.session.customRequest("setExceptionBreakpoints", { filters: ["all"] });
    await pause.session.customRequest("evaluate", { expression: "fail.next = true", context: "repl" });
    pause = await stop();
    isEqual([pause.reason, pause.frames[0]!.line], ["exception", lineOf("a.ts", "// throws")]);
    await pause.session.customRequest("setExceptionBreakpoints", { filters: [] });
    await resume(pause, "continue");
  });
  await check("breakpoint-while-running", async () => {
    breakpoint("a.ts", "// call");
    pause = await stop();
    isEqual(pause.frames[0]!.line, lineOf("a.ts", "// call"));
  });
  const [program] = programs;
  const stopped = (await evaluate("ticks", "repl")).result;
  await check("detach-leaves-program-running", async () => {
    await clear();
    // Not stopDebugging(), which would also end the program.
    await vscode.commands.executeCommand("workbench.action.debug.disconnect");
    await event("terminated");
    await awaitOutput(program!, `tick ${Number(stopped) + 1} `);
  });
  await check("attach-again", async () => {
    messages.length = 0;
    breakpoint("a.ts", "// inner");
    await attachTo(port);
    pause = await stop();
    isEqual(pause.frames[0]!.line, lineOf("a.ts", "// inner"));
  });
  await check("end-of-program-ends-session", async () => {
    await clear();
    await pause.session.customRequest("evaluate", {
      expression: "setTimeout(() => process.exit(), 1), 1",
      context: "repl",
    });
    const ended = event("terminated");
    await resume(pause, "continue");
    await ended;
  });
}

/** Checks a session that the editor starts for a program, and its pause pause the mark. */
async function checkSession(
  name: string,
  file: string,
  mark: string,
  start: () => vscode.Thenable<unknown>,
): Promise<void> {
  await check(name, async () => {
    breakpoint(file, mark);
    // Not awaited: the call may resolve only after the program has ended.
    const failure = Promise.withResolvers<never>();
    start().then(undefined, failure.reject);
    const { frames } = await Promise.race([stop(), failure.promise]);
    const [{ source, line }] = frames as [Frame];
    // Either a path, or the editor's name for an open file.
    isEqual([source?.path?.endsWith(uriOf(file).fsPath), line], [true, lineOf(file, mark)]);
  });
  await endSessions();
}

const inTerminal = (command: string) =>
  vscode.commands.executeCommand("extension.js-debug.createDebuggerTerminal", command, folder());

async function watched(): Promise<void> {
  // Fixed, so that the program has the same port after a restart.
  const fixedPort = 20_000 + Math.floor(Math.random() * 12_000);
  const port = await startProgram("--watch", `--inspect=127.0.0.1:${fixedPort}`, "watched.ts");
  breakpoint("watched.ts", "// inner");
  await attachTo(port, { restart: true });
  const pause = await stop();
  const path = uriOf("watched.ts").fsPath;
  await clear();
  await resume(pause, "continue");
  await check("watch-restart", async () => {
    const [program] = programs as [Program];
    program.text = "";
    writeFileSync(path, readFileSync(path, "utf8").replace("value = 1", "value = 2"));
    await awaitOutput(program, "For Web Inspector: ");
    // Messages of the program before its restart.
    messages.length = 0;
    breakpoint("watched.ts", "// inner");
    const { session, frames } = await stop();
    const request = { expression: "value", context: "repl", frameId: frames[0]!.id };
    isEqual((await session.customRequest("evaluate", request)).result, "2");
    isEqual(program.child.exitCode, null);
  });
  await endSessions();
}

export async function activate(): Promise<void> {
  vscode.debug.onDidStartDebugSession((session) => {
    if (!ended.has(session.id)) sessions.set(session.id, session); // the end may be reported before the start
  });
  vscode.debug.onDidTerminateDebugSession(({ id }) => {
    ended.add(id);
    sessions.delete(id);
    notify();
  });
  vscode.window.onDidCloseTerminal(notify);
  vscode.debug.registerDebugAdapterTrackerFactory("*", {
    createDebugAdapterTracker: (session) => ({
      onDidSendMessage: (message) => {
        messages.push({ session, ...message });
        notify();
      },
    }),
  });
  const parts: readonly (readonly [string, () => Promise<void>])[] = [
    ["attached", attached],
    [
      "f5",
      async () => {
        await vscode.window.showTextDocument(uriOf("top.ts"));
        await checkSession("f5", "top.ts", "// first", () =>
          vscode.commands.executeCommand("workbench.action.debug.start"),
        );
      },
    ],
    ["terminal", () => checkSession("debug-terminal", "top.ts", "// first", () => inTerminal("rt top.ts"))],
    ["script", () => checkSession("script", "top.ts", "// first", () => inTerminal("rt run start"))],
    [
      "monorepo",
      () =>
        checkSession("monorepo-script", "packages/app/main.ts", "// first", () =>
          inTerminal("rt run --filter app dev"),
        ),
    ],
    ["watch", watched],
  ];
  for (const [name, run] of parts) {
    try {
      await run();
    } catch (error) {
      report(`${name}: all of it`, error);
    }
    await endSessions().catch((error) => report(`${name}: its end`, error));
  }
  appendFileSync(results, `${JSON.stringify({ done: true })}\n`);
}
