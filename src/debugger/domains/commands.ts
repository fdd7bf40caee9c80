// All that a client can ask for. What is not here is answered as unknown, as Chrome does: docs/debugging.md lists it.
import { DEBUGGER } from "./debugger-domain.ts";
import { PROFILER } from "./profiler-domain.ts";
import { RUNTIME } from "./runtime-domain.ts";
import type { Commands } from "../server/session.ts";

/** Of no effect here, or already so; clients end at an error. */
const ACKNOWLEDGED = [
  "Console.enable",
  "Console.disable",
  "Console.clearMessages",
  "Debugger.setBlackboxedRanges",
  "Debugger.setBlackboxExecutionContexts",
  "HeapProfiler.enable",
  "HeapProfiler.disable",
  "Log.enable",
  "Log.disable",
  "Log.clear",
  "Network.enable",
  "Network.disable",
  "NodeRuntime.enable",
  "NodeRuntime.disable",
  "NodeRuntime.notifyWhenWaitingForDisconnect",
  "NodeWorker.disable",
  "Runtime.discardConsoleEntries",
  "Runtime.setAsyncCallStackDepth",
  "Runtime.setCustomObjectFormatterEnabled",
  "Runtime.setMaxCallStackSizeToCapture",
];

export const COMMANDS: Commands = {
  ...Object.fromEntries(ACKNOWLEDGED.map((method) => [method, () => ({})])),
  ...RUNTIME,
  ...DEBUGGER,
  ...PROFILER,
  ...Object.fromEntries(
    ["enable", "sendMessageToWorker", "detach"].map((name) => [
      `NodeWorker.${name}`,
      () => {
        throw new Error("Workers cannot be debugged: the engine has no debugger for them");
      },
    ]),
  ),
  // The program has nothing that could be traced by a name.
  "NodeTracing.getCategories": () => ({ categories: [] }),
  "NodeTracing.start": () => ({}),
  "NodeTracing.stop": (_params, { emit }) => emit("NodeTracing.tracingComplete", {}),
  "Schema.getDomains": () => ({ domains: domains().map((name) => ({ name, version: "1.3" })) }),
};

const EMITTED = [
  "Debugger.breakpointResolved",
  "Debugger.paused",
  "Debugger.resumed",
  "Debugger.scriptParsed",
  "HeapProfiler.addHeapSnapshotChunk",
  "HeapProfiler.reportHeapSnapshotProgress",
  "NodeTracing.tracingComplete",
  "Runtime.bindingCalled",
  "Runtime.consoleAPICalled",
  "Runtime.exceptionThrown",
  "Runtime.executionContextCreated",
];

function domains(): string[] {
  return [...new Set(Object.keys(COMMANDS).map((method) => method.split(".")[0]!))].toSorted();
}

/** For /json/protocol: names alone, which is what libraries make their methods of. */
export function describeProtocol(): object {
  const namesIn = (domain: string, names: readonly string[]) =>
    names.flatMap((name) => (name.startsWith(`${domain}.`) ? [{ name: name.slice(domain.length + 1) }] : []));
  return {
    version: { major: "1", minor: "3" },
    domains: domains().map((domain) => ({
      domain,
      commands: namesIn(domain, Object.keys(COMMANDS).toSorted()),
      events: namesIn(domain, EMITTED),
    })),
  };
}
