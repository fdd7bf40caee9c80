// A debugging session over CDP. All positions refer to the TypeScript file.
import { describe, expect, test } from "bun:test";
import { pathToFileURL } from "node:url";
import { type Debugger, openDebugger } from "../options/debugger.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { enable, placeOf, setBreakpoint, startDebugged } from "./chrome-client.ts";

const SOURCE = `interface Sum {
  a: number;
}

import { sep } from "node:path";

const top = { name: "module" };
const map = new Map([["key", { v: 1 }]]);

function add({ a }: Sum, extra: number): number {
  const answer: number = a + extra;

  if (answer > 0) {
    let inner = "block";
    console.log("inner", inner, sep);
  }
  return answer;
}

let total = 0;
for (let index = 0; index < 3; index += 1) total += add({ a: index }, 10);
console.log("values", total, NaN, -0, 12n, map);
try {
  throw new TypeError("caught");
} catch {}
console.log("end", typeof rt.secrets.get);
`;
const INNER = 15;

/** Returns the variables of a scope at a pause, by name. */
async function variablesOf(client: Debugger, paused: any, type: string): Promise<Record<string, unknown>> {
  const { object } = paused.callFrames[0].scopeChain.find((scope: any) => scope.type === type);
  const request = { objectId: object.objectId, ownProperties: true, generatePreview: true };
  const { result } = await client.send("Runtime.getProperties", request);
  return Object.fromEntries(
    result.map(({ name, value }: any) => [
      name,
      value.value ?? value.unserializableValue ?? value.description,
    ]),
  );
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

describe("a CDP session", () => {
  test.each<[string, string[], number[]]>([
    ["a false condition and none", ["false", ""], [1]],
    ["none and a false condition", ["", "false"], [0]],
    ["a true condition and none", ["true", ""], [0, 1]],
    ["a false and a true condition", ["false", "true"], [1]],
    ["a condition that throws and a true condition", ["absent()", "true"], [1]],
    ["a condition that ends in a comment and none", ["false // no", ""], [1]],
  ])(
    "pauses at a line whose breakpoints have %s, and names the breakpoints whose conditions hold",
    async (_, conditions, holding) => {
      await using project = await createProject({ "a.ts": SOURCE });
      const url = pathToFileURL(project.join("a.ts")).href;
      const { live, url: address } = await startDebugged(project, ["--inspect-wait=127.0.0.1:0", "a.ts"]);
      await using _live = live;
      using client = await openDebugger(address);
      enable(client);
      const ids: string[] = [];
      for (const condition of conditions)
        ids.push((await setBreakpoint(client, url, INNER, condition)).breakpointId);
      await client.send("Runtime.runIfWaitingForDebugger");
      const paused = await client.event("Debugger.paused");
      expect([placeOf(paused), paused.hitBreakpoints.toSorted()]).toEqual([
        `add:${INNER}`,
        holding.map((index) => ids[index]!).toSorted(),
      ]);
    },
  );

  test("pauses before the first line, steps, shows scopes, sets values and runs to the end", async () => {
    await using project = await createProject({ "a.ts": SOURCE });
    const url = pathToFileURL(project.join("a.ts")).href;
    const { live, url: address } = await startDebugged(project, ["--inspect-wait=127.0.0.1:0", "a.ts"]);
    await using _live = live;
    using client = await openDebugger(address);
    enable(client);
    // Three breakpoints must hold: at the first statement, by pattern and condition, and as a logpoint.
    await setBreakpoint(client, url, 7);
    await client.send("Debugger.setBreakpointByUrl", {
      urlRegex: `^${RegExp.escape(url)}$|^${RegExp.escape(project.join("a.ts"))}$`,
      lineNumber: INNER - 1,
      columnNumber: 0,
      condition: "a === 1",
    });
    await setBreakpoint(client, url, 17, "console.log('logpoint', answer), false");
    await client.send("Runtime.runIfWaitingForDebugger");
    const { scriptId } = await client.event("Debugger.scriptParsed", (script) => script.url === url);
    expect(await client.send("Debugger.getScriptSource", { scriptId })).toEqual({ scriptSource: SOURCE });
    const resolved = await client.event("Debugger.breakpointResolved");
    expect(resolved.location).toEqual({ scriptId, lineNumber: 6, columnNumber: 0 });

    const first = await client.event("Debugger.paused");
    expect([placeOf(first), first.hitBreakpoints]).toEqual([":7", [resolved.breakpointId]]);
    expect(live.output).not.toContain("inner");
    await client.send("Debugger.resume");

    const second = await client.event("Debugger.paused");
    expect(second.callFrames.map((frame: any) => frame.location.lineNumber + 1)).toEqual([INNER, 21]);
    expect(placeOf(second)).toBe(`add:${INNER}`);
    expect(second.callFrames[0].scopeChain.map(({ type }: any) => type)).toEqual([
      "block",
      "local",
      "module",
      "global",
    ]);
    expect(await variablesOf(client, second, "block")).toEqual({ inner: "block" });
    expect(await variablesOf(client, second, "local")).toEqual({ a: 1, answer: 11, extra: 10 });
    expect(await variablesOf(client, second, "module")).toMatchObject({ sep: "/", total: 10, map: "Map(1)" });
    const { callFrameId } = second.callFrames[0];
    const set = { callFrameId, scopeNumber: 0, variableName: "inner", newValue: { value: "changed" } };
    await client.send("Debugger.setVariableValue", set);
    const evaluate = async (expression: string, options: object = {}) =>
      await client.send("Debugger.evaluateOnCallFrame", { callFrameId, expression, ...options });
    expect((await evaluate("inner + answer")).result.value).toBe("changed11");
    const required = await evaluate("require('node:os').EOL", { includeCommandLineAPI: true });
    expect(required.result.value).toBe("\n");
    expect((await evaluate("typeof require")).result.value).toBe("undefined");
    const refused = await evaluate("total = -1", { throwOnSideEffect: true });
    expect(refused.exceptionDetails.exception.className).toBe("EvalError");
    expect((await evaluate("total", { throwOnSideEffect: true })).result.value).toBe(10);

    await client.send("Debugger.stepOver");
    await client.event("Debugger.resumed");
    expect(placeOf(await client.event("Debugger.paused"))).toBe("add:17");
    await client.send("Debugger.stepOut");
    expect(placeOf(await client.event("Debugger.paused"))).toMatch(/^:2[12]$/);
    await client.send("Debugger.setPauseOnExceptions", { state: "all" });
    await client.send("Debugger.resume");
    const thrown = await client.event("Debugger.paused");
    expect([placeOf(thrown), thrown.reason, thrown.data.className]).toEqual([
      ":24",
      "exception",
      "TypeError",
    ]);
    await client.send("Debugger.resume");

    const values = await client.event("Runtime.consoleAPICalled", ({ args }) => args[0].value === "values");
    expect(values.args.slice(1, 4).map((each: any) => each.value ?? each.unserializableValue)).toEqual([
      33,
      "NaN",
      "-0",
    ]);
    expect(values.args[4]).toMatchObject({ type: "bigint", unserializableValue: "12n" });
    expect(values.stackTrace.callFrames[0]).toMatchObject({ url, lineNumber: 21 });
    const logged = await client.event("Runtime.consoleAPICalled", ({ args }) => args[0].value === "logpoint");
    expect(logged.args[1].value).toBe(10);
    const last = await client.event("Runtime.consoleAPICalled", ({ args }) => args[0].value === "end");
    expect(last.args[1].value).toBe("function");
    await client.event("Runtime.executionContextDestroyed");
    await client.closed;
    expect(await live.ended).toBe(0);
  });

  test("--inspect-brk pauses at the first statement of the user's code, not of rt's or the engine's", async () => {
    const files = {
      "a.ts": SOURCE,
      // The engine's code that node:http loads runs before it.
      "b.ts":
        'import http from "node:http";\nimport { v } from "./lib.ts";\nconsole.log("end", v, typeof http);\n',
      "lib.ts": 'import "node:zlib";\n\ninterface None {}\n\nexport const v: number = 5;\n',
    };
    await using project = await createProject(files);
    for (const { file, first, next } of [
      { file: "a.ts", first: "a.ts:5", next: "a.ts:7" },
      { file: "b.ts", first: "lib.ts:1", next: "b.ts:3" },
    ]) {
      const { live, url } = await startDebugged(project, ["--inspect-brk=127.0.0.1:0", file]);
      await using _live = live;
      using client = await openDebugger(url);
      enable(client);
      await client.send("Runtime.runIfWaitingForDebugger");
      const stop = async () => {
        const { callFrames, reason, hitBreakpoints } = await client.event("Debugger.paused");
        const [{ url: path, location }] = callFrames;
        const place = `${path.slice(path.lastIndexOf("/") + 1)}:${location.lineNumber + 1}`;
        return [place, reason, callFrames.length, hitBreakpoints.length];
      };
      expect(await stop()).toEqual([first, "Break on start", 1, 0]);
      if (file === "b.ts") await setBreakpoint(client, pathToFileURL(project.join(file)).href, 3);
      void client.send(file === "b.ts" ? "Debugger.resume" : "Debugger.stepOver");
      expect(await stop()).toEqual([next, "other", 1, file === "b.ts" ? 1 : 0]);
      void client.send("Debugger.resume");
      await live.see(/end (?:function|5 object)/);
    }
  });

  test("a running program supports changing breakpoints, pause, console evaluation and a killed client", async () => {
    const source = `interface None {}

let ticks = 0;
function tick(): void {
  (globalThis as any).count = ticks += 1;
}
setInterval(tick, 5);
console.log("running");
`;
    await using project = await createProject({ "a.ts": source });
    const url = pathToFileURL(project.join("a.ts")).href;
    const { live, url: address } = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
    await using _live = live;
    await live.see("running");
    const client = await openDebugger(address);
    enable(client);
    const evaluate = async (expression: string, options: object = {}) =>
      await client.send("Runtime.evaluate", { expression, returnByValue: true, ...options });
    // Both breakpoints are at one place: the pause names the first, and the second remains after its removal.
    const [one, two] = [
      await setBreakpoint(client, url, 5),
      await setBreakpoint(client, url, 5, "ticks > 0"),
    ];
    expect(one.locations).toEqual(two.locations);
    const hit = await client.event("Debugger.paused");
    expect(hit.hitBreakpoints).toContain(one.breakpointId);
    await client.send("Debugger.removeBreakpoint", { breakpointId: one.breakpointId });
    await client.send("Debugger.resume");
    expect((await client.event("Debugger.paused")).hitBreakpoints).toEqual([two.breakpointId]);
    await client.send("Debugger.removeBreakpoint", { breakpointId: two.breakpointId });
    await client.send("Debugger.resume");

    const awaited = await evaluate("const four = await Promise.resolve(4); four", {
      replMode: true,
      awaitPromise: true,
    });
    expect(awaited.result.value).toBe(4);
    expect((await evaluate("four + 1")).result.value).toBe(5);
    expect((await evaluate("Promise.resolve({ a: 1 })", { awaitPromise: true })).result.value).toEqual({
      a: 1,
    });
    const thrown = await evaluate("throw new RangeError('no')");
    expect(thrown.exceptionDetails.exception.description).toStartWith("RangeError: no");
    const { result } = await client.send("Runtime.evaluate", { expression: "new Map([['key', 1]])" });
    const { internalProperties } = await client.send("Runtime.getProperties", {
      objectId: result.objectId,
      ownProperties: true,
    });
    expect(internalProperties.map(({ name }: any) => name)).toEqual(["[[Entries]]", "[[Prototype]]"]);
    // Entries also show for a class of the program, and without calling its functions.
    const heirs = [
      { expression: "new class Heir extends Map { entries() { throw 0 } }([[1, 2], [3, 4]])", entries: 2 },
      { expression: "new class Heir extends Set { *[Symbol.iterator]() {} }([1])", entries: 1 },
      { expression: "new class Other { size = 1; entries() { return [[1, 2]] } }", entries: undefined },
    ];
    for (const { expression, entries } of heirs) {
      const { result: heir } = await client.send("Runtime.evaluate", { expression });
      const request = { objectId: heir.objectId, ownProperties: true };
      const { internalProperties: inside } = await client.send("Runtime.getProperties", request);
      const list = inside.find(({ name }: any) => name === "[[Entries]]");
      expect(list?.value.description).toBe(entries && `Array(${entries})`);
    }
    const called = await client.send("Runtime.callFunctionOn", {
      objectId: result.objectId,
      functionDeclaration: "function (a, b) { return [this.size, Number.isNaN(a), b] }",
      arguments: [{ unserializableValue: "NaN" }, { value: "b" }],
      returnByValue: true,
    });
    expect(called.result.value).toEqual([1, true, "b"]);
    await expect(client.send("NodeWorker.enable")).rejects.toThrow("Workers cannot be debugged");
    const changing = { expression: "globalThis.changed = 1", throwOnSideEffect: true };
    const refused = await client.send("Runtime.evaluate", changing);
    expect(refused.exceptionDetails.exception.description).toContain("Possible side-effect");
    for (const method of ["No.such", "toString", "constructor"])
      await expect(client.send(method)).rejects.toThrow(`'${method}' wasn't found`);

    await client.send("Debugger.pause");
    expect(placeOf(await client.event("Debugger.paused"))).toMatch(/^tick:[45]$/);
    await setBreakpoint(client, url, 5);
    client.kill();
    using other = await openDebugger(address);
    enable(other);
    // VS Code enables the domains twice.
    enable(other);
    const ticks = async () => (await other.send("Runtime.evaluate", { expression: "1" })).result.value;
    expect(await ticks()).toBe(1);
    // The program runs: a timer set now fires.
    const expression = "new Promise((resolve) => setTimeout(resolve, 1, 'went on'))";
    const later = await other.send("Runtime.evaluate", { expression, awaitPromise: true });
    expect(later.result.value).toBe("went on");
    // A disconnected client's breakpoints are removed although another client stays connected.
    const third = await openDebugger(address);
    enable(third);
    await setBreakpoint(third, url, 5);
    await third.event("Debugger.paused");
    third.kill();
    const look = "(from) => count > from + 1 && resolve('went on')";
    const ticking = `new Promise((resolve) => setInterval(${look}, 1, count))`;
    await waitUntil(async () => {
      const last = await other.send("Runtime.evaluate", { expression: ticking, awaitPromise: true });
      return last.result.value === "went on";
    });
  });

  test("a client receives each of several equal console messages, and the line of an exception", async () => {
    const source = `setInterval(() => {}, 1000);

Object.assign(globalThis, { failed: new Error("on the third line") });
console.log("running");
`;
    await using project = await createProject({ "a.ts": source });
    const { live, url: address } = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
    await using _live = live;
    await live.see("running");
    using client = await openDebugger(address);
    enable(client);
    const evaluate = async (expression: string) => await client.send("Runtime.evaluate", { expression });
    await evaluate("for (let each = 0; each < 3; each += 1) console.log('the same')");
    const isSame = ({ args }: { args: { value?: unknown }[] }) => args[0]!.value === "the same";
    for (let each = 0; each < 3; each += 1) await client.event("Runtime.consoleAPICalled", isSame);
    const { objectId } = (await evaluate("failed")).result;
    const details = await client.send("Runtime.getExceptionDetails", { errorObjectId: objectId });
    expect(details.exceptionDetails).toMatchObject({ lineNumber: 2 });
  });

  test("breakpoints of a disconnected client do not pause the program for another client", async () => {
    const source = `interface None {}

let ticks = 0;
function tick(): void {
  ticks += 1;
}
setInterval(() => {
  for (let each = 0; each < 1000; each += 1) tick();
}, 1);
console.log("running");
`;
    await using project = await createProject({ "a.ts": source });
    const url = pathToFileURL(project.join("a.ts")).href;
    const { live, url: address } = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
    await using _live = live;
    await live.see("running");
    using staying = await openDebugger(address);
    enable(staying);
    const leaving = await openDebugger(address);
    enable(leaving);
    await setBreakpoint(leaving, url, 5);
    await leaving.event("Debugger.paused");
    leaving.kill();
    const expression = "new Promise((resolve) => setTimeout(resolve, 1, 'went on'))";
    const later = await staying.send("Runtime.evaluate", { expression, awaitPromise: true });
    expect(later.result.value).toBe("went on");
  });

  test("a module scope has all that the module declares, and no name that the paused function shadows", async () => {
    const source = `import { sep as séparateur } from "node:path";

const größe: number = 5;
let a = 1, b = 2;
const {
  c: renamed = 3,
  ...others
} = { d: 4 } as Record<string, number>;
const text = \`
const if = 6
class default {}
\`;
export default class extends Map {}
function inside(größe: string): unknown {
  debugger;
  return [größe, a, b, renamed, others, text, séparateur];
}
setInterval(() => inside("the parameter"), 1);
`;
    await using project = await createProject({ "a.ts": source });
    const { live, url } = await startDebugged(project, ["--inspect-wait=127.0.0.1:0", "a.ts"]);
    await using _live = live;
    using client = await openDebugger(url);
    enable(client);
    await client.send("Runtime.runIfWaitingForDebugger");
    const paused = await client.event("Debugger.paused");
    const [{ callFrameId }, caller] = paused.callFrames;
    const module = {
      a: 1,
      b: 2,
      renamed: 3,
      others: "Object",
      séparateur: "/",
      text: "\nconst if = 6\nclass default {}\n",
      inside: expect.stringContaining("function inside"),
    };
    expect(await variablesOf(client, paused, "module")).toEqual(module);
    expect(await variablesOf(client, { callFrames: [caller] }, "module")).toEqual({ ...module, größe: 5 });
    const request = { callFrameId, expression: "größe" };
    const { result } = await client.send("Debugger.evaluateOnCallFrame", request);
    expect(result.value).toBe("the parameter");
  });

  test("evaluation without side effects runs no getter and no proxy trap of the program", async () => {
    const source = `interface None {}

let reads = 0;
class Parent {
  get counted(): number {
    return (reads += 1);
  }
}
const held = Object.assign(new Parent(), { plain: { text: "as it is" }, map: new Map([[1, 2]]) });
const traps = new Proxy({ name: "any" }, { get: () => (reads += 1), getPrototypeOf: () => ((reads += 1), null) });
setInterval(() => {
  debugger;
  console.log(held, traps);
}, 1);
`;
    await using project = await createProject({ "a.ts": source });
    const { live, url } = await startDebugged(project, ["--inspect-wait=127.0.0.1:0", "a.ts"]);
    await using _live = live;
    using client = await openDebugger(url);
    enable(client);
    await client.send("Runtime.runIfWaitingForDebugger");
    const [{ callFrameId }] = (await client.event("Debugger.paused")).callFrames;
    const hover = async (expression: string) => {
      const request = { callFrameId, expression, throwOnSideEffect: true };
      const { result } = await client.send("Debugger.evaluateOnCallFrame", request);
      return result.value ?? result.className;
    };
    expect(await hover("held.counted")).toBe("EvalError");
    expect(await hover("held . counted.toFixed")).toBe("EvalError");
    expect(await hover("traps.name")).toBe("EvalError");
    expect(await hover("held.plain.text")).toBe("as it is");
    expect(await hover("held.map.size")).toBe(1);
    expect(await hover("held.plain?.none?.text")).toBeUndefined();
    expect(await hover("held.none.text")).toBe("TypeError");
    expect(await hover("nothing.text")).toBe("ReferenceError");
    expect(await hover("reads")).toBe(0);
  });

  test("pauses at a debugger statement in the first line, and finds a source map URL that is not in the last line", async () => {
    const source = "debugger;\nconsole.log('end');\n//# sourceMappingURL=a.js.map\n//# debugId=1\n\n";
    await using project = await createProject({ "a.js": source });
    const { live, url } = await startDebugged(project, ["--inspect-wait=127.0.0.1:0", "a.js"]);
    await using _live = live;
    using client = await openDebugger(url);
    enable(client);
    await client.send("Runtime.runIfWaitingForDebugger");
    const paused = await client.event("Debugger.paused");
    expect([placeOf(paused), paused.reason]).toEqual([":1", "other"]);
    const { scriptId } = paused.callFrames[0].location;
    const script = await client.event("Debugger.scriptParsed", (each) => each.scriptId === scriptId);
    expect(script.sourceMapURL).toBe("a.js.map");
    void client.send("Debugger.resume");
    await live.see("end");
  });

  test("breakpoints hold from the first line on in a file that imports CommonJS", async () => {
    await using project = await createProject({
      "a.ts":
        'import dep from "dep";\nimport "./b.ts";\n\nconst a: number = dep.value;\nconsole.log("end", a);\n',
      "b.ts": "interface None {}\n\nconsole.log('b');\n",
      "node_modules/dep/package.json": { name: "dep", main: "dep.js" },
      "node_modules/dep/dep.js": "const value = 1;\nmodule.exports = { value };\n",
    });
    const url = (file: string) => pathToFileURL(project.join(file)).href;
    for (const [option, first] of [
      ["--inspect-wait", []],
      ["--inspect-brk", ["dep.js:1"]],
    ] as const) {
      const { live, url: address } = await startDebugged(project, [`${option}=127.0.0.1:0`, "a.ts"]);
      await using _live = live;
      using client = await openDebugger(address);
      enable(client);
      await setBreakpoint(client, url("b.ts"), 3);
      await setBreakpoint(client, url("a.ts"), 4);
      await client.send("Runtime.runIfWaitingForDebugger");
      for (const expected of [...first, "b.ts:3", "a.ts:4"]) {
        const [{ url: file, location }] = (await client.event("Debugger.paused")).callFrames;
        expect(`${file.slice(file.lastIndexOf("/") + 1)}:${location.lineNumber + 1}`).toBe(expected);
        void client.send("Debugger.resume");
      }
      await live.see("end 1");
      expect(await live.ended).toBe(0);
    }
  });

  test("a client's settings remain when another client disconnects or changes its own", async () => {
    const source = `interface None {}

function work(x: number): void {
  console.log("worked", x);
}
function fail(): void {
  try {
    throw new Error("caught");
  } catch {}
}
Object.assign(globalThis, { work, fail });
setInterval(() => {}, 1000);
console.log("running");
`;
    await using project = await createProject({ "a.ts": source });
    const url = pathToFileURL(project.join("a.ts")).href;
    const { live, url: address } = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
    await using _live = live;
    const [, webkit] = await live.see(/(?=[^]*?For Web Inspector: (ws:\S+) or)/);
    await live.see("running");
    using staying = await openDebugger(address);
    enable(staying);
    const { breakpointId } = await setBreakpoint(staying, url, 4);
    await staying.send("Debugger.setPauseOnExceptions", { state: "all" });
    let calls = 0;
    const expectUnchanged = async () => {
      const done = staying.send("Runtime.evaluate", {
        expression: `setTimeout(() => { work(${(calls += 1)}); fail(); }, 0)`,
      });
      const paused = await staying.event("Debugger.paused");
      expect([placeOf(paused), paused.hitBreakpoints]).toEqual(["work:4", [breakpointId]]);
      void staying.send("Debugger.resume");
      const logged = await staying.event(
        "Runtime.consoleAPICalled",
        ({ args }) => args[0].value === "worked",
      );
      expect(logged.args[1].value).toBe(calls);
      expect((await staying.event("Debugger.paused")).reason).toBe("exception");
      void staying.send("Debugger.resume");
      await done;
    };
    await expectUnchanged();
    await staying.event("Debugger.scriptParsed", (script) => script.url === url);
    const leaving = [await openDebugger(address), await openDebugger(webkit!)];
    for (const other of leaving) {
      enable(other);
      if (other === leaving[0]) await other.send("Debugger.setPauseOnExceptions", { state: "none" });
      await other.send("Runtime.evaluate", { expression: "1" });
      other.kill();
      // The engine drops all breakpoints when a connection of Web Inspector closes.
      if (other === leaving[1]) await staying.event("Debugger.breakpointResolved");
      await expectUnchanged();
    }
    using disabledClient = await openDebugger(address);
    enable(disabledClient);
    await disabledClient.send("Debugger.disable");
    await disabledClient.send("Runtime.disable");
    await expectUnchanged();
    // This client disabled its domains: its next message must be the response, not an event.
    const seen = Promise.race([
      disabledClient.event("Debugger.paused").then(() => "paused"),
      disabledClient.event("Runtime.consoleAPICalled").then(() => "logged"),
    ]);
    const response = disabledClient.send("Runtime.evaluate", { expression: "'quiet'" });
    expect(await Promise.race([seen, response.then(({ result }) => result.value)])).toBe("quiet");
    // Each script is reported once to a client.
    const again = staying.event("Debugger.scriptParsed", (script) => script.url === url).then(() => "again");
    const once = staying.send("Runtime.evaluate", { expression: "'once'" });
    expect(await Promise.race([again, once.then(({ result }) => result.value)])).toBe("once");
  });

  test("a program keeps running while clients of Web Inspector connect and disconnect", async () => {
    await using project = await createProject({
      "a.ts": "setInterval(() => {}, 1000); console.log('running');",
    });
    const { live, url } = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
    await using _live = live;
    const [, webkit] = await live.see(/(?=[^]*?For Web Inspector: (ws:\S+) or)/);
    await live.see("running");
    for (let round = 0; round < 50; round += 1) {
      const client = await openDebugger(webkit!);
      void client.send("Debugger.enable");
      client.kill();
    }
    using client = await openDebugger(url);
    const expression = "new Promise((resolve) => setTimeout(resolve, 1, 'went on'))";
    const later = await client.send("Runtime.evaluate", { expression, awaitPromise: true });
    expect(later.result.value).toBe("went on");
  });

  test("two simultaneous clients each get their own responses", async () => {
    await using project = await createProject({
      "a.ts": "setInterval(() => {}, 1000); console.log('running');",
    });
    const { live, url } = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
    await using _live = live;
    await live.see("running");
    using one = await openDebugger(url);
    using other = await openDebugger(url);
    const evaluateMany = (client: typeof one, name: string) =>
      Array.from({ length: 50 }, async (_, index) => {
        const expression = `Promise.resolve("${name} ${index}")`;
        const { result } = await client.send("Runtime.evaluate", { expression, awaitPromise: true });
        return result.value;
      });
    const expected = (name: string) => Array.from({ length: 50 }, (_, index) => `${name} ${index}`);
    const [first, second] = [evaluateMany(one, "one"), evaluateMany(other, "other")];
    expect([await Promise.all(first), await Promise.all(second)]).toEqual([
      expected("one"),
      expected("other"),
    ]);
  });

  test("a paused program resumes when the client that paused it disconnects", async () => {
    const source = `let count = 0;
process.on("SIGUSR2", () => {
  debugger;
  console.log("went on", (count += 1));
});
setInterval(() => {}, 1000);
console.log("running");
`;
    await using project = await createProject({ "a.ts": source });
    const { live, url: address } = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
    await using _live = live;
    await live.see("running");
    const client = await openDebugger(address);
    enable(client);
    await client.send("Runtime.evaluate", { expression: "1" });
    live.kill("SIGUSR2");
    await client.event("Debugger.paused");
    client.kill();
    await live.see("went on 1");
    const second = await openDebugger(address);
    enable(second);
    await second.send("Runtime.evaluate", { expression: "1" });
    second.kill();
    // The thread that answers here processes the disconnection first.
    const list = address.replace(/^ws(:\/\/[^/]+).*/, "http$1/json/list");
    for (let round = 0; round < 2; round += 1) expect((await fetch(list)).status).toBe(200);
    live.kill("SIGUSR2");
    await live.see("went on 2");
  });

  test("takes CPU profiles and heap snapshots in Chrome's formats", async () => {
    const source = `interface None {}

function busy(): number {
  let sum = 0;
  for (let index = 0; index < 20_000_000; index += 1) sum += index % 7;
  return sum;
}
Object.assign(globalThis, { busy });
setInterval(() => {}, 1000);
console.log("running");
`;
    await using project = await createProject({ "a.ts": source });
    const { live, url } = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
    await using _live = live;
    await live.see("running");
    using client = await openDebugger(url);
    await client.send("Profiler.enable");
    await client.send("Profiler.setSamplingInterval", { interval: 500 });
    await client.send("Profiler.start");
    await client.send("Runtime.evaluate", { expression: "busy()" });
    const { profile } = await client.send("Profiler.stop");
    const { callFrame } = profile.nodes.find((node: any) => node.callFrame.functionName === "busy");
    expect(callFrame).toMatchObject({ url: pathToFileURL(project.join("a.ts")).href, lineNumber: 2 });
    expect(profile.samples.length).toBe(profile.timeDeltas.length);
    await expect(client.send("Profiler.stop")).rejects.toThrow("Profiler is not started");

    let text = "";
    await client.send("HeapProfiler.takeHeapSnapshot", { reportProgress: true });
    expect((await client.event("HeapProfiler.reportHeapSnapshotProgress")).finished).toBe(true);
    // All chunks arrived before the response.
    while (!isJson(text)) text += (await client.event("HeapProfiler.addHeapSnapshotChunk")).chunk;
    expect(JSON.parse(text).snapshot.meta.node_fields).toContain("self_size");
  });
});

test("the debugger rejects an invalid message and answers the next one", async () => {
  await using project = await createProject({ "a.ts": "setInterval(() => {}, 1000)" });
  const { live, url } = await startDebugged(project, ["--inspect=0", "a.ts"]);
  await using _ = live;
  const socket = new WebSocket(url);
  const answers: unknown[] = [];
  const done = Promise.withResolvers<void>();
  socket.onmessage = ({ data }) => {
    answers.push(JSON.parse(String(data)));
    if (answers.length === 3) done.resolve();
  };
  await new Promise((resolve) => (socket.onopen = resolve));
  socket.send("nonsense");
  socket.send(JSON.stringify({ id: 7, method: "Runtime.none", sessionId: "one" }));
  socket.send(JSON.stringify({ id: 8, method: "Runtime.none" }));
  await done.promise;
  const error = { code: -32_601, message: "'Runtime.none' wasn't found" };
  expect(answers).toEqual([
    { error: { code: -32_700, message: "Message must be a valid JSON" } },
    { id: 7, sessionId: "one", error },
    { id: 8, error },
  ]);
  socket.close();
});
