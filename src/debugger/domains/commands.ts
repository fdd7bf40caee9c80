// The table of CDP commands. Any other command is rejected as unknown, as in Chrome; docs/guides/debugging.md lists them.
import { DEBUGGER } from "./debugger-domain.ts";
import { PROFILER } from "./profiler-domain.ts";
import { RUNTIME } from "./runtime-domain.ts";
import type { Commands } from "../server/session.ts";

/** Commands without effect. They succeed, because clients disconnect after an error. */
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
  // The engine has no trace categories.
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

/** Returns the response to /json/protocol. It contains only names, from which client libraries generate methods. */
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
