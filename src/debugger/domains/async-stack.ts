// Reads the async call stack of a paused program: the callers that await the current function.
//
// Non-obvious:
// - The engine's debugger does not report them, but the text of an error's stack contains them, with positions in the file. So an
//   Error is created at the pause and its stack is parsed.
import type { Json } from "../engine-connection.ts";
import type { ClientSession } from "../server/session.ts";

const MAKE_STACK = `(() => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  try { return new Error().stack } finally { Error.stackTraceLimit = stackTraceLimit }
})()
//# sourceURL=rt:debugger`;

const FRAME = /^ {4}at async (?:(.+) \()?(.+?):(\d+)(?::(\d+))?\)?$/;

/** Returns a CDP StackTrace; undefined without awaiting callers, or if the client did not request async stacks. */
export async function asyncStackOf(callFrameId: string, session: ClientSession): Promise<Json> {
  const { asyncDepth, backend, scripts } = session;
  if (asyncDepth === 0) return undefined;
  const options = { returnByValue: true, doNotPauseOnExceptionsAndMuteConsole: true };
  const asked = { callFrameId, expression: MAKE_STACK, ...options };
  const { result, wasThrown } = await backend.send("Debugger.evaluateOnCallFrame", asked);
  if (wasThrown || typeof result?.value !== "string") return undefined;
  const frames = readAsyncFrames(result.value).flatMap(({ path, ...position }) => {
    const script = scripts.find(path);
    return script ? [{ ...position, scriptId: script.scriptId, url: script.url }] : [];
  });
  // CDP has one stack per awaiting caller; `asyncDepth` limits their number.
  return frames
    .slice(0, asyncDepth)
    .reduceRight<Json>(
      (parent, frame) => ({ description: "await", callFrames: [frame], ...(parent && { parent }) }),
      undefined,
    );
}

interface AsyncFrame {
  readonly functionName: string;
  readonly path: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

function readAsyncFrames(stack: string): AsyncFrame[] {
  return stack.split("\n").flatMap((line) => {
    const [, name = "", path, lineNumber, columnNumber] = FRAME.exec(line) ?? [];
    if (path === undefined) return [];
    const functionName = name === "<anonymous>" || name === "module code" ? "" : name;
    const position = { lineNumber: Number(lineNumber) - 1, columnNumber: Number(columnNumber ?? 1) - 1 };
    return [{ functionName, path, ...position }];
  });
}
