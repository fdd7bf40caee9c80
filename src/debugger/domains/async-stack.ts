// Who waits for the function in which the program stands: the frames behind the last of the engine's own stack.
//
// The engine's debugger does not tell of them; its errors do, in their text, with the places of the file. So an error is
// made where the program stands, and its stack read.
import type { Json } from "../engine-connection.ts";
import type { ClientSession } from "../server/session.ts";

const MAKE_STACK = `(() => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  try { return new Error().stack } finally { Error.stackTraceLimit = stackTraceLimit }
})()
//# sourceURL=rt:debugger`;

const FRAME = /^ {4}at async (?:(.+) \()?(.+?):(\d+)(?::(\d+))?\)?$/;

/** In Chrome's words; undefined where nobody waits, or the client does not ask. */
export async function asyncStackOf(callFrameId: string, session: ClientSession): Promise<Json> {
  const { asyncDepth, backend, scripts } = session;
  if (asyncDepth === 0) return undefined;
  const options = { returnByValue: true, doNotPauseOnExceptionsAndMuteConsole: true };
  const asked = { callFrameId, expression: MAKE_STACK, ...options };
  const { result, wasThrown } = await backend.send("Debugger.evaluateOnCallFrame", asked);
  if (wasThrown || typeof result?.value !== "string") return undefined;
  const found = readAsyncFrames(result.value).flatMap(({ path, ...place }) => {
    const script = scripts.find(path);
    return script ? [{ ...place, scriptId: script.scriptId, url: script.url }] : [];
  });
  // Chrome has a stack for each that waits, and counts them.
  return found
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
    const place = { lineNumber: Number(lineNumber) - 1, columnNumber: Number(columnNumber ?? 1) - 1 };
    return [{ functionName, path, ...place }];
  });
}
