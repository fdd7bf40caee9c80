// The Debugger domain: stopping, stepping, and what a client sees of a program that stands still.
import type { Json } from "../engine-connection.ts";
import { noteResumed } from "./resumed-event.ts";
import { asyncStackOf } from "./async-stack.ts";
import { pauseBeforeEntry, isEntryThere } from "../entry-pauses.ts";
import { mergePauseSettings, debuggingBeside, stopDebugging } from "../server/multi-client.ts";
import { type Pause, readPause } from "./call-frames.ts";
import { evaluateOnFrame, refuseUnless } from "./evaluation.ts";
import { PASS_OWN, type Script } from "./scripts.ts";
import type { CdpHandler, Commands, ClientSession } from "../server/session.ts";
import { compare } from "./source-map.ts";
import { toClientValue, toExpression } from "./remote-object.ts";

const go =
  (method: string): CdpHandler =>
  async (_params, session) => {
    const isUnder = session.starts > 0 && method === "Debugger.resume" && !isEntryThere(session);
    pauseBeforeEntry(isUnder, session);
    await session.backend.send(method);
    noteResumed(session);
  };

/** Who is not the first is told of the scripts by what another one knows: the engine tells who turns it on. */
async function join(session: ClientSession): Promise<void> {
  const { backend, program } = session;
  const other = debuggingBeside(session);
  await other?.enabling;
  // It may have gone meanwhile.
  if (!other?.enabling) return await enable(session);
  for (const script of other.scripts.all()) tellScript(session.scripts.keep(script), session);
  await mergePauseSettings(program, backend);
}

/** A script is there that the client may not know of. */
export function tellScript(script: Script, session: ClientSession): void {
  const { breakpoints, emit, told } = session;
  const { description, engineUrl, scriptId, url } = script;
  if (!told.has(scriptId)) emit("Debugger.scriptParsed", description);
  told.add(scriptId);
  breakpoints.onScript(script);
  applyBlackbox(engineUrl, url, session);
}

export async function enable({ backend }: ClientSession): Promise<void> {
  await backend.send("Debugger.enable").catch(async () => {
    // A client of Web Inspector has it, and who enables it is told of the scripts: the last to come gets it.
    void backend.send("Debugger.disable");
    await backend.send("Debugger.enable");
  });
  await Promise.all([
    backend.send("Debugger.setShouldBlackboxURL", PASS_OWN),
    // In what the engine has compiled for a program that nobody debugs, no breakpoint stops anything: a change of this makes
    // it forget all that.
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
  "Debugger.resume": go("Debugger.resume"),
  "Debugger.stepInto": go("Debugger.stepInto"),
  "Debugger.stepOut": go("Debugger.stepOut"),
  "Debugger.stepOver": go("Debugger.stepOver"),
  "Debugger.continueToLocation": async ({ location }, session) => {
    const place = session.scripts.toEngine(location);
    if (!place) throw new Error("There is no code at that place");
    await session.backend.send("Debugger.continueToLocation", { location: place });
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
    // The engine cannot tell those that will be caught from the others beforehand.
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
    const places = new Map<string, Json>();
    for (const location of answer.locations ?? []) {
      const place = scripts.toClient(location);
      if (compare(place, from) >= 0 && compare(place, last) < 0)
        places.set(`${place.lineNumber}:${place.columnNumber}`, place);
    }
    return { locations: [...places.values()].toSorted(compare) };
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
  "Debugger.setInstrumentationBreakpoint": async ({ instrumentation }, { beginnings, breakpoints }) => {
    // What clients set with a map in hand is set without one here: nothing needs to stop for it.
    if (instrumentation === "beforeScriptWithSourceMapExecution") return { breakpointId: instrumentation };
    const wanted = { matches: () => true, lineNumber: 0, columnNumber: 0, condition: "" };
    const { breakpointId } = await breakpoints.set(wanted, String(instrumentation));
    beginnings.add(breakpointId);
    return { breakpointId };
  },
  // The stacks of those that wait are sent whole; there is none that has an id.
  "Debugger.getStackTrace": () => {
    throw new Error("Stack trace with given id is not found");
  },
  "Debugger.pauseOnAsyncCall": () => {
    throw new Error("Async call with given id is not found");
  },
  // No script is ever shown that has such code.
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
    refuseUnless(/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(variableName), "That is no variable's name");
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

/** Clients ask for a file by its URL or by its path. */
function namesOf({ url }: Script): string[] {
  return url.startsWith("file:") ? [url, Bun.fileURLToPath(url)] : [url];
}

/** Steps pass a script by whose URL the client has asked to be left out. */
export function applyBlackbox(engineUrl: string, url: string, session: ClientSession): void {
  const shouldBlackbox = session.blackbox?.test(url) ?? false;
  if ((session.blackboxed.get(engineUrl) ?? false) === shouldBlackbox || engineUrl === "") return;
  session.blackboxed.set(engineUrl, shouldBlackbox);
  const asked = { url: engineUrl, shouldBlackbox, caseSensitive: true };
  void session.backend.send("Debugger.setShouldBlackboxURL", asked);
}

/** For which the engine stops anyway. */
const OWN_REASONS = new Set(["assert", "Breakpoint", "DebuggerStatement", "exception"]);

/** Whether it is one named `debugger`, at which the engine does not stop again. */
async function standsAtStatement(top: Pause["top"], { backend, stops }: ClientSession): Promise<boolean> {
  if (!top || !stops.statements) return false;
  const { scriptId, lineNumber, columnNumber = 0 } = top.location;
  const { scriptSource } = await backend.send("Debugger.getScriptSource", { scriptId });
  const line = String(scriptSource).split("\n", lineNumber + 1)[lineNumber] ?? "";
  return /^debugger\b/.test(line.slice(columnNumber));
}

/** The engine stands still: shown to the client, but for a stop that is only there to set breakpoints in time. */
export async function onPaused(params: Json, session: ClientSession): Promise<void> {
  const { backend, breakpoints, scripts, program } = session;
  const pause = readPause(params, scripts);
  const { top } = pause;
  // Who does not debug is told nothing of it.
  if (!session.enabling) return;
  const { reason, data } = params;
  let hitBreakpoints: string[] = [];
  const isFirst = session.isStarting && session.starts === 0 && program.stopsAtFirst;
  if (session.isStarting && !OWN_REASONS.has(reason)) {
    session.starts += 1;
    if (isEntryThere(session)) pauseBeforeEntry(false, session);
    await breakpoints.settle();
    if (top) hitBreakpoints = await breakpoints.hitAt(top.location, top.callFrameId);
    const isWanted = isFirst || hitBreakpoints.length > 0 || (await standsAtStatement(top, session));
    if (!isWanted) return void (await backend.send("Debugger.resume"));
  } else if (data?.breakpointId && top) {
    hitBreakpoints = await breakpoints.hitBy(data.breakpointId, top.callFrameId);
  }
  // Somebody else has let it go a step, of which the engine says nothing.
  noteResumed(session);
  session.pause = pause;
  const isException = reason === "exception";
  const isBeginning = hitBreakpoints.some((id) => session.beginnings.has(id));
  const asyncStackTrace = top && (await asyncStackOf(top.callFrameId, session).catch(() => undefined));
  session.emit("Debugger.paused", {
    callFrames: pause.callFrames,
    reason: isFirst
      ? "Break on start"
      : isBeginning
        ? "instrumentation"
        : isException || reason === "assert"
          ? reason
          : "other",
    hitBreakpoints,
    ...(isException && data ? { data: toClientValue(data) } : {}),
    ...(asyncStackTrace ? { asyncStackTrace } : {}),
  });
}
