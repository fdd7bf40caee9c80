// Implements the CDP Profiler and HeapProfiler domains.
//
// Non-obvious:
// - The engine creates profiles in Chrome's formats only inside the process. So the commands run in the program, through
//   ../in-process-agent.ts.
import type { Json } from "../engine-connection.ts";
import { COVERAGE } from "./coverage.ts";
import { AGENT_SYMBOL } from "../in-process-agent.ts";
import type { CdpHandler, Commands, ClientSession } from "../server/session.ts";

/** Characters per message of a snapshot. */
const CHUNK_SIZE = 1 << 16;

export async function callAgent(session: ClientSession, method: string, params: Json = {}): Promise<Json> {
  const words = [method, JSON.stringify(params)].map((word) => JSON.stringify(word));
  const expression = `globalThis[Symbol.for(${JSON.stringify(AGENT_SYMBOL)})](${words.join(", ")})\n//# sourceURL=rt:debugger`;
  const options = { returnByValue: true, doNotPauseOnExceptionsAndMuteConsole: true };
  const { result, wasThrown } = await session.backend.send("Runtime.evaluate", { expression, ...options });
  if (wasThrown) throw new Error(String(result.description).replace(/^\w*Error: /, ""));
  return result.value;
}

const forwarded =
  (method: string): CdpHandler =>
  async (params, session) =>
    JSON.parse(await callAgent(session, method, params));

const FORWARDED = [
  "Profiler.enable",
  "Profiler.disable",
  "Profiler.start",
  "Profiler.stop",
  "Profiler.setSamplingInterval",
];

async function takeSnapshot({ reportProgress }: Json, session: ClientSession): Promise<void> {
  const { emit } = session;
  const snapshot = String(await callAgent(session, "snapshot"));
  if (reportProgress) emit("HeapProfiler.reportHeapSnapshotProgress", { done: 1, total: 1, finished: true });
  for (let at = 0; at < snapshot.length; at += CHUNK_SIZE)
    emit("HeapProfiler.addHeapSnapshotChunk", { chunk: snapshot.slice(at, at + CHUNK_SIZE) });
}

export const PROFILER: Commands = {
  ...Object.fromEntries(FORWARDED.map((method) => [method, forwarded(method)])),
  ...COVERAGE,
  "HeapProfiler.takeHeapSnapshot": takeSnapshot,
  // The engine does not record allocations: the result is an ordinary snapshot.
  "HeapProfiler.startTrackingHeapObjects": () => ({}),
  "HeapProfiler.stopTrackingHeapObjects": takeSnapshot,
  "HeapProfiler.collectGarbage": async (_params, { backend }) => backend.send("Heap.gc"),
};
