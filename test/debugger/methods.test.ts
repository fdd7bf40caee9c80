// Checks that each CDP method of Node.js 20's inspector works or is documented as missing.
import { expect, test } from "bun:test";
import { pathToFileURL } from "node:url";
import { openDebugger } from "../options/debugger.ts";
import { createProject } from "../support/project.ts";
import { enable, placeOf, setBreakpoint, startDebugged } from "./chrome-client.ts";

/** All methods of Node.js 20.20, by domain. */
const METHODS = {
  Console: "clearMessages disable enable",
  Debugger:
    "continueToLocation disable enable evaluateOnCallFrame getPossibleBreakpoints getScriptSource disassembleWasmModule " +
    "nextWasmDisassemblyChunk getWasmBytecode getStackTrace pause pauseOnAsyncCall removeBreakpoint restartFrame resume " +
    "searchInContent setAsyncCallStackDepth setBlackboxPatterns setBlackboxedRanges setBreakpoint setInstrumentationBreakpoint " +
    "setBreakpointByUrl setBreakpointOnFunctionCall setBreakpointsActive setPauseOnExceptions setReturnValue setScriptSource " +
    "setSkipAllPauses setVariableValue stepInto stepOut stepOver",
  HeapProfiler:
    "addInspectedHeapObject collectGarbage disable enable getHeapObjectId getObjectByHeapObjectId getSamplingProfile " +
    "startSampling startTrackingHeapObjects stopSampling stopTrackingHeapObjects takeHeapSnapshot",
  Profiler:
    "disable enable getBestEffortCoverage setSamplingInterval start startPreciseCoverage stop stopPreciseCoverage " +
    "takePreciseCoverage",
  Runtime:
    "awaitPromise callFunctionOn compileScript disable discardConsoleEntries enable evaluate getIsolateId getHeapUsage " +
    "getProperties globalLexicalScopeNames queryObjects releaseObject releaseObjectGroup runIfWaitingForDebugger runScript " +
    "setAsyncCallStackDepth setCustomObjectFormatterEnabled setMaxCallStackSizeToCapture terminateExecution addBinding " +
    "removeBinding getExceptionDetails",
  Schema: "getDomains",
  NodeTracing: "getCategories start stop",
  NodeWorker: "sendMessageToWorker enable disable detach",
  Network: "disable enable",
  NodeRuntime: "enable disable notifyWhenWaitingForDisconnect",
};

/** The missing methods; docs/reference/debugger.md names each. */
const MISSING = [
  "Debugger.restartFrame",
  "Debugger.setReturnValue",
  "Debugger.setScriptSource",
  "HeapProfiler.addInspectedHeapObject",
  "HeapProfiler.getHeapObjectId",
  "HeapProfiler.getObjectByHeapObjectId",
  "HeapProfiler.getSamplingProfile",
  "HeapProfiler.startSampling",
  "HeapProfiler.stopSampling",
  "Runtime.terminateExecution",
];

const SOURCE = `interface None {}

class Point {
  constructor(readonly x: number) {}
}
function choose(x: number): string {
  if (x > 5) {
    return "large";
  }
  return "small";
}
async function inner(): Promise<void> {
  await Promise.resolve();
  choose(1);
}
async function middle(): Promise<void> {
  await inner();
}
async function outer(): Promise<void> {
  await middle();
}
Object.assign(globalThis, { Point, choose, outer, points: [new Point(1), new Point(2)] });
setInterval(() => {}, 1000);
console.log("running");
`;

test("the debugger lacks ten methods of Node.js 20, and the guide names them", async () => {
  await using project = await createProject({ "a.ts": SOURCE });
  const { live, port, url } = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
  await using _live = live;
  const { domains } = await (await fetch(`http://127.0.0.1:${port}/json/protocol`)).json();
  const offered = new Set<string>();
  for (const { domain, commands } of domains)
    for (const { name } of commands) offered.add(`${domain}.${name}`);
  const all = Object.entries(METHODS).flatMap(([domain, names]) =>
    names.split(" ").map((name) => `${domain}.${name}`),
  );
  expect(all.length).toBe(92);
  expect(all.filter((method) => !offered.has(method))).toEqual(MISSING);
  const guide = await Bun.file(`${import.meta.dir}/../../docs/reference/debugger.md`).text();
  const named = MISSING.filter(
    (method) => guide.includes(`\`${method}\``) || guide.includes(`\`.${method.replace(/.*\./, "")}\``),
  );
  expect(named).toEqual(MISSING);
  using client = await openDebugger(url);
  for (const method of MISSING) await expect(client.send(method)).rejects.toThrow(`'${method}' wasn't found`);
});

test("a client queries objects, reads exceptions, adds bindings, breaks on a function call and gets async stack traces", async () => {
  await using project = await createProject({ "a.ts": SOURCE });
  const file = pathToFileURL(project.join("a.ts")).href;
  const { live, url } = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
  await using _live = live;
  await live.see("running");
  using client = await openDebugger(url);
  enable(client);
  const evaluate = async (expression: string, options: object = {}) =>
    (await client.send("Runtime.evaluate", { expression, ...options })).result;

  const { objectId: prototypeObjectId } = await evaluate("Point.prototype");
  const { objects } = await client.send("Runtime.queryObjects", { prototypeObjectId });
  expect(objects).toMatchObject({ subtype: "array", description: "Array(2)" });

  const { objectId: errorObjectId } = await evaluate("choose.error = new RangeError('no')");
  const { exceptionDetails } = await client.send("Runtime.getExceptionDetails", { errorObjectId });
  expect(exceptionDetails.exception).toMatchObject({ className: "RangeError", objectId: errorObjectId });
  await expect(
    client.send("Runtime.getExceptionDetails", { errorObjectId: prototypeObjectId }),
  ).rejects.toThrow("not a JS error object");

  await client.send("Runtime.addBinding", { name: "tellClient" });
  void evaluate("tellClient('twice'), tellClient('twice')");
  for (let count = 0; count < 2; count += 1)
    expect(await client.event("Runtime.bindingCalled")).toMatchObject({
      name: "tellClient",
      payload: "twice",
    });
  const misused = await client.send("Runtime.evaluate", { expression: "tellClient(1)" });
  expect(misused.exceptionDetails.exception.className).toBe("TypeError");
  await client.send("Runtime.removeBinding", { name: "tellClient" });
  await client.send("Runtime.addBinding", { name: "tellAgain" });
  expect((await evaluate("tellClient('nobody'), tellAgain('somebody')")).type).toBe("undefined");
  expect((await client.event("Runtime.bindingCalled")).name).toBe("tellAgain");

  expect(await client.send("NodeTracing.getCategories")).toEqual({ categories: [] });
  await client.send("NodeTracing.start", { traceConfig: { includedCategories: [] } });
  await client.send("NodeTracing.stop");
  await client.event("NodeTracing.tracingComplete");

  const { objectId } = await evaluate("choose");
  const { breakpointId } = await client.send("Debugger.setBreakpointOnFunctionCall", { objectId });
  const depth = { maxDepth: 8 };
  await client.send("Debugger.setAsyncCallStackDepth", depth);
  const evaluated = evaluate("outer()", { awaitPromise: true });
  const paused = await client.event("Debugger.paused");
  expect([placeOf(paused), paused.hitBreakpoints]).toEqual(["choose:7", [breakpointId]]);
  expect(paused.callFrames.map((frame: any) => frame.functionName)).toEqual(["choose", "inner"]);
  const { asyncStackTrace: waiting } = paused;
  expect(
    [waiting, waiting.parent].map(({ description, callFrames }) => [description, callFrames]),
  ).toMatchObject([
    ["await", [{ functionName: "middle", url: file, lineNumber: 16 }]],
    ["await", [{ functionName: "outer", url: file, lineNumber: 19 }]],
  ]);
  await client.send("Debugger.removeBreakpoint", { breakpointId });
  void client.send("Debugger.resume");
  await evaluated;
  await client.send("Debugger.setAsyncCallStackDepth", { maxDepth: 0 });
  await setBreakpoint(client, file, 7);
  const again = evaluate("outer()", { awaitPromise: true });
  expect((await client.event("Debugger.paused")).asyncStackTrace).toBeUndefined();
  void client.send("Debugger.resume");
  await again;

  await client.send("HeapProfiler.startTrackingHeapObjects");
  await client.send("HeapProfiler.stopTrackingHeapObjects", { reportProgress: true });
  expect((await client.event("HeapProfiler.reportHeapSnapshotProgress")).finished).toBe(true);
});

test("precise coverage counts the blocks that ran since the last call, at offsets of the original file", async () => {
  const files = {
    "a.ts": `import "./later.ts";\n${SOURCE}`,
    "later.ts": "export const later: number = 1;\n",
  };
  await using project = await createProject(files);
  const file = pathToFileURL(project.join("a.ts")).href;
  const { live, url } = await startDebugged(project, ["--inspect-wait=127.0.0.1:0", "a.ts"]);
  await using _live = live;
  using client = await openDebugger(url);
  await expect(client.send("Profiler.takePreciseCoverage")).rejects.toThrow("has not been started");
  await client.send("Profiler.enable");
  await client.send("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  await client.send("Runtime.runIfWaitingForDebugger");
  await live.see("running");
  const text = files["a.ts"];
  /** Returns how often the code that begins with `part` ran: the innermost range counts. */
  const countOf = async () => {
    const { result } = await client.send("Profiler.takePreciseCoverage");
    const { functions } = result.find((script: any) => script.url === file);
    const { ranges } = functions[0];
    expect(ranges[0]).toMatchObject({ startOffset: 0, endOffset: text.length });
    return (part: string) => {
      const at = text.indexOf(part) + 1;
      return ranges.findLast((range: any) => range.startOffset <= at && at < range.endOffset).count;
    };
  };
  const first = await countOf();
  expect([first('return "large"'), first('return "small"'), first("await middle()")]).toEqual([0, 0, 0]);
  expect(first('console.log("running")')).toBe(1);
  await client.send("Runtime.evaluate", { expression: "choose(1), choose(2), choose(9)" });
  const second = await countOf();
  expect([second('return "large"'), second('return "small"'), second("await middle()")]).toEqual([1, 2, 0]);
  const third = await countOf();
  expect([third('return "large"'), third('return "small"')]).toEqual([0, 0]);
  await client.send("Profiler.stopPreciseCoverage");
});

test("an instrumentation breakpoint pauses in each new file before its first line", async () => {
  const files = {
    "a.ts": 'import { v } from "./lib.ts";\nconsole.log("end", v);\n',
    "lib.ts": "export const v: number = 5;\n",
  };
  await using project = await createProject(files);
  const { live, url } = await startDebugged(project, ["--inspect-wait=127.0.0.1:0", "a.ts"]);
  await using _live = live;
  using client = await openDebugger(url);
  enable(client);
  const instrumentation = "beforeScriptExecution";
  const { breakpointId } = await client.send("Debugger.setInstrumentationBreakpoint", { instrumentation });
  void client.send("Runtime.runIfWaitingForDebugger");
  for (const name of ["lib.ts", "a.ts"]) {
    const { reason, hitBreakpoints, callFrames } = await client.event("Debugger.paused");
    expect([reason, hitBreakpoints]).toEqual(["instrumentation", [breakpointId]]);
    expect(callFrames[0].url).toEndWith(`/${name}`);
    void client.send("Debugger.resume");
  }
  await live.see("end 5");
});
