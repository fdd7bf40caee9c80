// The Profiler and HeapProfiler domains. The engine measures and writes in Chrome's formats itself, but not for its
// debugger: it is asked from inside the program, by what bootstrap.ts has left there.
import type { Json } from "../engine-connection.ts";
import { COVERAGE } from "./coverage.ts";
import { AGENT_SYMBOL } from "../in-process-agent.ts";
import type { CdpHandler, Commands, ClientSession } from "../server/session.ts";

/** What a client takes in one message of a snapshot. */
const CHUNK = 1 << 16;

export async function ask(session: ClientSession, method: string, params: Json = {}): Promise<Json> {
  const words = [method, JSON.stringify(params)].map((word) => JSON.stringify(word));
  const expression = `globalThis[Symbol.for(${JSON.stringify(AGENT_SYMBOL)})](${words.join(", ")})\n//# sourceURL=rt:debugger`;
  const options = { returnByValue: true, doNotPauseOnExceptionsAndMuteConsole: true };
  const { result, wasThrown } = await session.backend.send("Runtime.evaluate", { expression, ...options });
  if (wasThrown) throw new Error(String(result.description).replace(/^\w*Error: /, ""));
  return result.value;
}

const passOn =
  (method: string): CdpHandler =>
  async (params, session) =>
    JSON.parse(await ask(session, method, params));

const PASSED_ON = [
  "Profiler.enable",
  "Profiler.disable",
  "Profiler.start",
  "Profiler.stop",
  "Profiler.setSamplingInterval",
];

async function takeSnapshot({ reportProgress }: Json, session: ClientSession): Promise<void> {
  const { emit } = session;
  const snapshot = String(await ask(session, "snapshot"));
  if (reportProgress) emit("HeapProfiler.reportHeapSnapshotProgress", { done: 1, total: 1, finished: true });
  for (let at = 0; at < snapshot.length; at += CHUNK)
    emit("HeapProfiler.addHeapSnapshotChunk", { chunk: snapshot.slice(at, at + CHUNK) });
}

export const PROFILER: Commands = {
  ...Object.fromEntries(PASSED_ON.map((method) => [method, passOn(method)])),
  ...COVERAGE,
  "HeapProfiler.takeHeapSnapshot": takeSnapshot,
  // Of what is allocated in between, the engine keeps no record: the end is a snapshot as any.
  "HeapProfiler.startTrackingHeapObjects": () => ({}),
  "HeapProfiler.stopTrackingHeapObjects": takeSnapshot,
  "HeapProfiler.collectGarbage": async (_params, { backend }) => backend.send("Heap.gc"),
};
