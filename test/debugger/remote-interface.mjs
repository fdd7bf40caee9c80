// The usual calls of chrome-remote-interface, under Node.js: `node remote-interface.mjs <port>`. Prints its results as a line of
// JSON.
import CDP from "chrome-remote-interface";

const at = { host: "127.0.0.1", port: Number(process.argv[2]) };
const found = {};

const [target] = await CDP.List(at);
found.target = { type: target.type, title: target.title.split(/[\\/]/).at(-1) };
found.version = Object.keys(await CDP.Version(at)).sort(); // Node.js 18 has no toSorted()
const { domains } = await CDP.Protocol(at);
found.domains = domains.map(({ domain }) => domain);

// `local: false` is the default: the methods are created from the program's protocol description.
const client = await CDP({ ...at, target, local: false });
const { Debugger, HeapProfiler, Profiler, Runtime } = client;
const logged = new Promise((resolve) => Runtime.consoleAPICalled(resolve));
const scripts = new Map();
Debugger.scriptParsed(({ scriptId, url }) => scripts.set(scriptId, url));
await Promise.all([Runtime.enable(), Debugger.enable(), Profiler.enable(), HeapProfiler.enable()]);

found.sum = (await Runtime.evaluate({ expression: "6 * 7" })).result.value;
const awaited = await Runtime.evaluate({
  expression: "Promise.resolve({ a: [1] })",
  awaitPromise: true,
  returnByValue: true,
});
found.awaited = awaited.result.value;
found.thrown = (await Runtime.evaluate({ expression: "null.x" })).exceptionDetails.exception.className;
found.refused = await client.send("Runtime.none").catch(({ message }) => message);

const { breakpointId } = await Debugger.setBreakpointByUrl({
  urlRegex: "a\\.ts$",
  lineNumber: 5,
  columnNumber: 0,
});
await Runtime.runIfWaitingForDebugger();
const { callFrames, hitBreakpoints } = await Debugger.paused();
found.isHit = hitBreakpoints.includes(breakpointId);
found.place = [callFrames[0].functionName, callFrames[0].location.lineNumber + 1];
found.file = scripts.get(callFrames[0].location.scriptId).split("/").at(-1);
const { callFrameId } = callFrames[0];
found.answer = (await Debugger.evaluateOnCallFrame({ callFrameId, expression: "answer" })).result.value;
await Debugger.removeBreakpoint({ breakpointId });
const resumed = Debugger.resumed();
await Debugger.resume();
await resumed;
found.logged = (await logged).args.map(({ value }) => value);

await Profiler.start();
await Runtime.evaluate({ expression: "work()" });
const { profile } = await Profiler.stop();
found.isProfile =
  profile.samples.length === profile.timeDeltas.length &&
  profile.nodes[0].callFrame.functionName === "(root)";

let snapshot = "";
HeapProfiler.addHeapSnapshotChunk(({ chunk }) => (snapshot += chunk));
await HeapProfiler.takeHeapSnapshot();
const { nodes, strings } = JSON.parse(snapshot);
found.isSnapshot = nodes.length > 0 && strings.includes("Held");

const gone = new Promise((resolve) => client.on("disconnect", resolve));
void Runtime.evaluate({ expression: "process.exit(7)" }).catch(() => {});
await gone;
console.log(JSON.stringify(found));
