// Implements Chrome's precise coverage from the basic blocks that the engine counts after it was enabled.
//
// Non-obvious:
// - Chrome resets counts when they are taken, the engine does not. So the returned counts are stored and subtracted.
// - Positions refer to the source file and are as precise as its source map.
import type { Json } from "../engine-connection.ts";
import { debuggingBeside } from "../server/multi-client.ts";
import type { Script } from "./scripts.ts";
import type { CdpHandler, Commands, Coverage, ClientSession } from "../server/session.ts";

interface Block {
  readonly startOffset: number;
  /** Offset of the last character. */
  readonly endOffset: number;
  readonly executionCount: number;
  readonly hasExecuted: boolean;
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

const start: CdpHandler = async ({ callCount = false }, session) => {
  await listScripts(session);
  await session.backend.send("Runtime.enableControlFlowProfiler");
  session.coverage = { isCounting: callCount, returned: new Map() };
  await take(session);
  return { timestamp: performance.now() / 1000 };
};

export const COVERAGE: Commands = {
  "Profiler.startPreciseCoverage": start,
  "Profiler.stopPreciseCoverage": async (_params, session) => {
    session.coverage = undefined;
    await session.backend.send("Runtime.disableControlFlowProfiler");
  },
  "Profiler.takePreciseCoverage": async (_params, session) => {
    if (!session.coverage) throw new Error("Precise coverage has not been started.");
    return { result: await take(session), timestamp: performance.now() / 1000 };
  },
  "Profiler.getBestEffortCoverage": async (params, session) => {
    if (!session.coverage) await start(params, session);
    return { result: await take(session) };
  },
};

/** Fills the script registry. The engine reports scripts only with an enabled debugger, so its pauses are disabled. */
async function listScripts(session: ClientSession): Promise<void> {
  const { backend, enabling, scripts } = session;
  if (enabling) return;
  const other = debuggingBeside(session);
  if (other) {
    for (const script of other.scripts.all()) scripts.keep(script);
    return;
  }
  await backend.send("Debugger.enable").catch((error: unknown) => {
    if (!/already enabled/.test(String(error))) throw error;
  });
  await backend.send("Debugger.setPauseOnDebuggerStatements", { enabled: false });
}

async function take({ backend, coverage, scripts }: ClientSession): Promise<Json[]> {
  const result: Json[] = [];
  for (const script of scripts.all()) {
    const { scriptId, url } = script;
    const asked = await backend.send("Runtime.getBasicBlocks", { sourceID: scriptId }).catch(() => undefined);
    const blocks = (asked?.basicBlocks ?? []) as Block[];
    if (blocks.length === 0) continue;
    const { scriptSource } = await backend.send("Debugger.getScriptSource", { scriptId });
    const ranges = blocks.map((block) => countSinceLast(scriptId, block, coverage!));
    const functions = [
      { functionName: "", isBlockCoverage: true, ranges: toSourceRanges(ranges, scriptSource, script) },
    ];
    result.push({ scriptId, url, functions });
  }
  return result;
}

function countSinceLast(scriptId: string, block: Block, { isCounting, returned }: Coverage): Range {
  const { startOffset, endOffset, executionCount, hasExecuted } = block;
  const total = Math.max(executionCount, hasExecuted ? 1 : 0);
  const key = `${scriptId}:${startOffset}:${endOffset}`;
  const count = total - (returned.get(key) ?? 0);
  returned.set(key, total);
  return { startOffset, endOffset: endOffset + 1, count: isCounting ? count : Math.min(count, 1) };
}

/** Maps ranges to the source file, without duplicates and outer before inner. The first is the whole file. */
function toSourceRanges(ranges: readonly Range[], text: string, { map }: Script): Range[] {
  const source = map?.source;
  const mapped = new Map<string, Range>();
  const [from, to] = [new Lines(text), new Lines(source ?? text)];
  const toSource = (offset: number) =>
    map && source ? to.offsetOf(map.toOriginal(from.positionOf(offset))) : offset;
  const whole = { startOffset: 0, endOffset: (source ?? text).length, count: 0 };
  for (const { startOffset, endOffset, count } of ranges) {
    const range = { startOffset: toSource(startOffset), endOffset: toSource(endOffset), count };
    if (endOffset >= text.trimEnd().length) range.endOffset = whole.endOffset;
    if (range.endOffset <= range.startOffset) continue;
    const key = `${range.startOffset}:${range.endOffset}`;
    if ((mapped.get(key)?.count ?? -1) < count) mapped.set(key, range);
  }
  const sorted = [...mapped.values()].toSorted(
    (a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset,
  );
  const [first] = sorted;
  if (first?.startOffset === 0 && first.endOffset === whole.endOffset) return sorted;
  return [{ ...whole, count: Math.max(...sorted.map(({ count }) => count), 0) }, ...sorted];
}

/** Converts between offsets and positions in a text. */
class Lines {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#starts.push(at + 1);
  }

  positionOf(offset: number): { lineNumber: number; columnNumber: number } {
    const next = this.#starts.findIndex((start) => start > offset);
    const lineNumber = (next < 0 ? this.#starts.length : next) - 1;
    return { lineNumber, columnNumber: offset - this.#starts[lineNumber]! };
  }

  offsetOf({ lineNumber, columnNumber }: { lineNumber: number; columnNumber: number }): number {
    return (this.#starts[lineNumber] ?? this.#starts.at(-1)!) + columnNumber;
  }
}
