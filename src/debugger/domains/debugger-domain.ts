// Implements the CDP Debugger domain: pauses, stepping, breakpoints and the state of a paused program.
import type { Json } from "../engine-connection.ts";
import { noteResumed } from "./resumed-event.ts";
import { asyncStackOf } from "./async-stack.ts";
import { pauseBeforeEntry, isEntryThere } from "../entry-pauses.ts";
import { mergePauseSettings, debuggingBeside, stopDebugging } from "../server/multi-client.ts";
import { type Pause, readPause } from "./call-frames.ts";
import { evaluateOnFrame, refuseUnless } from "./evaluation.ts";
import { BLACKBOX_OWN, type Script } from "./scripts.ts";
import type { CdpHandler, Commands, ClientSession } from "../server/session.ts";
import { compare } from "./source-map.ts";
import { toClientValue, toExpression } from "./remote-object.ts";

const resumeWith =
  (method: string): CdpHandler =>
  async (_params, session) => {
    const isLoading = session.starts > 0 && method === "Debugger.resume" && !isEntryThere(session);
    pauseBeforeEntry(isLoading, session);
    await session.backend.send(method);
    noteResumed(session);
  };

/** Enables the debugger for a client. The engine reports scripts only to the first one; later ones get its registry. */
async function join(session: ClientSession): Promise<void> {
  const { backend, program } = session;
  const other = debuggingBeside(session);
  await other?.enabling;
  // The other client may have disconnected during the await.
  if (!other?.enabling) return await enable(session);
  for (const script of other.scripts.all()) reportScript(session.scripts.keep(script), session);
  await mergePauseSettings(program, backend);
}

/** Reports a script to the client once, sets its breakpoints and applies the blackbox patterns. */
export function reportScript(script: Script, session: ClientSession): void {
  const { breakpoints, emit, reported } = session;
  const { description, engineUrl, scriptId, url } = script;
  if (!reported.has(scriptId)) emit("Debugger.scriptParsed", description);
  reported.add(scriptId);
  breakpoints.onScript(script);
  applyBlackbox(engineUrl, url, session);
}

export async function enable({ backend, program }: ClientSession): Promise<void> {
  await program.disabling;
  await backend.send("Debugger.enable").catch(async () => {
    // A Web Inspector client has enabled it. The engine reports scripts only on enable, so it is disabled and enabled again.
    void backend.send("Debugger.disable");
    await backend.send("Debugger.enable");
  });
  await Promise.all([
    backend.send("Debugger.setShouldBlackboxURL", BLACKBOX_OWN),
    // Code compiled without a debugger ignores breakpoints. Changing this setting makes the engine discard that code.
    backend.send("Debugger.setBreakpointsActive", { active: false }),
    backend.send("Debugger.setBreakpointsActive", { active: true }),
    backend.send("Debugger.setPauseOnDebuggerStatements", { enabled: true }),
  ]);
}

export const DEBUGGER: Commands = {
  "Debugger.enable": async (_params, session) => {
    await (session.enabling ??= join(session));
    return { debuggerId: `rt.${session.program.title}` };
  },
  "Debugger.disable": async (_params, session) => {
    Object.assign(session.stops, { exceptions: "none", breakpoints: true, statements: true });
    await stopDebugging(session);
  },
  "Debugger.pause": async (_params, { backend }) => backend.send("Debugger.pause"),
  "Debugger.resume": resumeWith("Debugger.resume"),
  "Debugger.stepInto": resumeWith("Debugger.stepInto"),
  "Debugger.stepOut": resumeWith("Debugger.stepOut"),
  "Debugger.stepOver": resumeWith("Debugger.stepOver"),
  "Debugger.continueToLocation": async ({ location }, session) => {
    const engineLocation = session.scripts.toEngine(location);
    if (!engineLocation) throw new Error("No code at that location");
    await session.backend.send("Debugger.continueToLocation", { location: engineLocation });
    noteResumed(session);
  },
  "Debugger.setBreakpointsActive": async ({ active }, session) => {
    session.stops.breakpoints = active;
    await mergePauseSettings(session.program, session.backend);
  },
  "Debugger.setSkipAllPauses": async ({ skip }, session) => {
    Object.assign(session.stops, { breakpoints: !skip, statements: !skip });
    await mergePauseSettings(session.program, session.backend);
  },
  "Debugger.setPauseOnExceptions": async ({ state }, session) => {
    // The engine cannot pause at caught exceptions only.
    session.stops.exceptions = state === "caught" ? "all" : state;
    await mergePauseSettings(session.program, session.backend);
  },
  "Debugger.setAsyncCallStackDepth": ({ maxDepth = 0 }, session) => {
    session.asyncDepth = maxDepth;
  },
  "Debugger.setBlackboxPatterns": ({ patterns = [] }, session) => {
    session.blackbox = patterns.length > 0 ? new RegExp(patterns.join("|")) : undefined;
    for (const { engineUrl, url } of session.scripts.all()) applyBlackbox(engineUrl, url, session);
  },
  "Debugger.setBreakpointByUrl": async (params, { breakpoints }) => {
    const { url, urlRegex, lineNumber, columnNumber = 0, condition = "" } = params;
    const pattern = urlRegex === undefined ? undefined : new RegExp(urlRegex);
    if (!pattern && url === undefined) throw new Error("Either url or urlRegex must be specified.");
    const matches = (script: Script) =>
      pattern ? namesOf(script).some((name) => pattern.test(name)) : namesOf(script).includes(url);
    return await breakpoints.set({ matches, lineNumber, columnNumber, condition }, urlRegex ?? url);
  },
  "Debugger.setBreakpoint": async ({ location, condition = "" }, { breakpoints }) => {
    const { scriptId, lineNumber, columnNumber = 0 } = location;
    const matches = (script: Script) => script.scriptId === scriptId;
    const wanted = { matches, lineNumber, columnNumber, condition };
    const { breakpointId, locations } = await breakpoints.set(wanted, scriptId);
    if (!locations[0]) {
      await breakpoints.remove(breakpointId);
      throw new Error("Could not resolve breakpoint");
    }
    return { breakpointId, actualLocation: locations[0] };
  },
  "Debugger.removeBreakpoint": async ({ breakpointId }, { breakpoints }) => breakpoints.remove(breakpointId),
  "Debugger.getPossibleBreakpoints": async ({ start, end }, { backend, scripts }) => {
    const { scriptId } = start;
    const script = scripts.get(scriptId);
    if (!script) throw new Error("Cannot retrieve script with provided id");
    const { endLine, endColumn } = script.description;
    const last = end ?? { scriptId, lineNumber: endLine, columnNumber: endColumn };
    const from = { columnNumber: 0, ...start };
    const range = script.map ? script.map.rangeOf(from, last) : { start: from, end: last };
    if (!range) return { locations: [] };
    const asked = { start: { scriptId, ...range.start }, end: { scriptId, ...range.end } };
    const answer = await backend.send("Debugger.getBreakpointLocations", asked);
    const positions = new Map<string, Json>();
    for (const location of answer.locations ?? []) {
      const position = scripts.toClient(location);
      if (compare(position, from) >= 0 && compare(position, last) < 0)
        positions.set(`${position.lineNumber}:${position.columnNumber}`, position);
    }
    return { locations: [...positions.values()].toSorted(compare) };
  },
  "Debugger.setBreakpointOnFunctionCall": async ({ objectId, condition = "" }, session) => {
    const { backend, breakpoints, scripts } = session;
    const { details } = await backend.send("Debugger.getFunctionDetails", { functionId: objectId });
    const { scriptId, lineNumber, columnNumber } = scripts.toClient(details.location);
    refuseUnless(scripts.get(scriptId) !== undefined, "Could not find function to set breakpoint on");
    const matches = (script: Script) => script.scriptId === scriptId;
    const wanted = { matches, lineNumber, columnNumber, condition };
    return { breakpointId: (await breakpoints.set(wanted, details.name ?? "")).breakpointId };
  },
  "Debugger.setInstrumentationBreakpoint": async (
    { instrumentation },
    { scriptStartBreakpoints, breakpoints },
  ) => {
    // Clients use this pause to apply source maps; here positions already refer to the file, so no pause is needed.
    if (instrumentation === "beforeScriptWithSourceMapExecution") return { breakpointId: instrumentation };
    const wanted = { matches: () => true, lineNumber: 0, columnNumber: 0, condition: "" };
    const { breakpointId } = await breakpoints.set(wanted, String(instrumentation));
    scriptStartBreakpoints.add(breakpointId);
    return { breakpointId };
  },
  // Async stacks are sent completely, so none has an ID.
  "Debugger.getStackTrace": () => {
    throw new Error("Stack trace with given id is not found");
  },
  "Debugger.pauseOnAsyncCall": () => {
    throw new Error("Async call with given id is not found");
  },
  // WebAssembly scripts are never reported to clients.
  ...Object.fromEntries(
    ["getWasmBytecode", "disassembleWasmModule", "nextWasmDisassemblyChunk"].map((name) => [
      `Debugger.${name}`,
      ({ scriptId, streamId }: Json) => {
        throw new Error(`Script with id ${scriptId ?? streamId} is not WebAssembly`);
      },
    ]),
  ),
  "Debugger.getScriptSource": async ({ scriptId }, { backend, scripts }) => {
    const source = scripts.get(scriptId)?.map?.source;
    if (source !== undefined) return { scriptSource: source };
    const answer = await backend.send("Debugger.getScriptSource", { scriptId });
    return { scriptSource: answer.scriptSource };
  },
  "Debugger.searchInContent": async ({ scriptId, query, caseSensitive, isRegex }, session) => {
    const { scriptSource } = await DEBUGGER["Debugger.getScriptSource"]!({ scriptId }, session);
    const pattern = new RegExp(isRegex ? query : RegExp.escape(query), caseSensitive ? "" : "i");
    const lines = String(scriptSource).split("\n").entries();
    return {
      result: [...lines].flatMap(([lineNumber, lineContent]) =>
        pattern.test(lineContent) ? [{ lineNumber, lineContent }] : [],
      ),
    };
  },
  "Debugger.evaluateOnCallFrame": evaluateOnFrame,
  "Debugger.setVariableValue": async ({ variableName, newValue, callFrameId }, { backend }) => {
    refuseUnless(/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(variableName), "Invalid variable name");
    let expression = `${variableName} = ${toExpression(newValue)}`;
    if (newValue.objectId !== undefined) {
      const { savedResultIndex } = await backend.send("Runtime.saveResult", { value: newValue });
      expression = `${variableName} = $${savedResultIndex}`;
    }
    const asked = { callFrameId, expression, includeCommandLineAPI: true };
    const answer = await backend.send("Debugger.evaluateOnCallFrame", asked);
    refuseUnless(!answer.wasThrown, String(answer.result?.description));
  },
};

/** Returns the URL and the path of a script: clients use both. */
function namesOf({ url }: Script): string[] {
  return url.startsWith("file:") ? [url, Bun.fileURLToPath(url)] : [url];
}

/** Makes the engine step over a script if its URL matches the client's blackbox patterns. */
function applyBlackbox(engineUrl: string, url: string, session: ClientSession): void {
  const shouldBlackbox = session.blackbox?.test(url) ?? false;
  if ((session.blackboxed.get(engineUrl) ?? false) === shouldBlackbox || engineUrl === "") return;
  session.blackboxed.set(engineUrl, shouldBlackbox);
  const asked = { url: engineUrl, shouldBlackbox, caseSensitive: true };
  void session.backend.send("Debugger.setShouldBlackboxURL", asked);
}

/** Reasons for a pause that are independent of the entry pauses. */
const ENGINE_REASONS = new Set(["assert", "Breakpoint", "DebuggerStatement", "exception"]);

/** Returns true at a `debugger` statement, at which the engine does not pause again. */
async function isAtDebuggerStatement(top: Pause["top"], { backend, stops }: ClientSession): Promise<boolean> {
  if (!top || !stops.statements) return false;
  const { scriptId, lineNumber, columnNumber = 0 } = top.location;
  const { scriptSource } = await backend.send("Debugger.getScriptSource", { scriptId });
  const line = String(scriptSource).split("\n", lineNumber + 1)[lineNumber] ?? "";
  return /^debugger\b/.test(line.slice(columnNumber));
}

/** Reports a pause to the client, unless it is an entry pause without a breakpoint or `debugger` statement. */
export async function onPaused(params: Json, session: ClientSession): Promise<void> {
  const { backend, breakpoints, scripts, program } = session;
  const pause = readPause(params, scripts);
  const { top } = pause;
  // A client that has not enabled the debugger does not see the pause.
  if (!session.enabling) return;
  const { reason, data } = params;
  let hitBreakpoints: string[] = [];
  const isFirst = session.isStarting && session.starts === 0 && program.stopsAtFirst;
  if (session.isStarting && !ENGINE_REASONS.has(reason)) {
    session.starts += 1;
    if (isEntryThere(session)) pauseBeforeEntry(false, session);
    await breakpoints.settle();
    if (top) hitBreakpoints = await breakpoints.hitAt(top.location, top.callFrameId);
    const isWanted = isFirst || hitBreakpoints.length > 0 || (await isAtDebuggerStatement(top, session));
    if (!isWanted) return void (await backend.send("Debugger.resume"));
  } else if (data?.breakpointId && top) {
    hitBreakpoints = await breakpoints.hitBy(data.breakpointId, top.callFrameId);
  }
  // Another client may have stepped, for which the engine sends no "resumed" event.
  noteResumed(session);
  session.pause = pause;
  const isException = reason === "exception";
  const isScriptStart = hitBreakpoints.some((id) => session.scriptStartBreakpoints.has(id));
  const asyncStackTrace = top && (await asyncStackOf(top.callFrameId, session).catch(() => undefined));
  session.emit("Debugger.paused", {
    callFrames: pause.callFrames,
    reason: isFirst
      ? "Break on start"
      : isScriptStart
        ? "instrumentation"
        : isException || reason === "assert"
          ? reason
          : "other",
    hitBreakpoints,
    ...(isException && data ? { data: toClientValue(data) } : {}),
    ...(asyncStackTrace ? { asyncStackTrace } : {}),
  });
}
