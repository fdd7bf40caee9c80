// Translates the engine's events to CDP events.
import type { Json } from "../engine-connection.ts";
import { onPaused, reportScript } from "./debugger-domain.ts";
import { noteResumed } from "./resumed-event.ts";
import type { ScriptRegistry } from "./scripts.ts";
import type { Events, ClientSession } from "../server/session.ts";
import { toClientValue } from "./remote-object.ts";

const TYPES: Readonly<Record<string, string>> = {
  dir: "dir",
  dirxml: "dirxml",
  table: "table",
  trace: "trace",
  clear: "clear",
  startGroup: "startGroup",
  startGroupCollapsed: "startGroupCollapsed",
  endGroup: "endGroup",
  assert: "assert",
  timing: "timeEnd",
  profile: "profile",
  profileEnd: "profileEnd",
};

export const EVENTS: Events = {
  "Debugger.scriptParsed": (params, session) => {
    const script = session.scripts.add(params);
    if (!script) return;
    if (session.enabling) reportScript(script, session);
  },
  "Debugger.paused": onPaused,
  "Debugger.resumed": (_params, session) => noteResumed(session),
  "Debugger.globalObjectCleared": (_params, session) => {
    session.scripts.clear();
    session.reported.clear();
    session.breakpoints.clear();
  },
  "Console.messageAdded": ({ message }, session) => {
    session.lastMessage = message;
    if (session.isReporting) report(message, session);
  },
  "Console.messageRepeatCountUpdated": ({ timestamp }, session) => {
    if (session.lastMessage && session.isReporting) report({ ...session.lastMessage, timestamp }, session);
  },
};

function report(message: Json, session: ClientSession): void {
  const { source, level = "log", text = "", type, parameters, url, line, column, stackTrace } = message;
  const timestamp = toMilliseconds(message.timestamp);
  const trace = toClientStack(stackTrace, session.scripts);
  if (source !== "console-api" && level === "error") {
    const [exception] = parameters ?? [];
    const position = trace?.callFrames[0] ?? {
      lineNumber: Math.max((line ?? 1) - 1, 0),
      columnNumber: Math.max((column ?? 1) - 1, 0),
      url: url ?? "",
    };
    session.emit("Runtime.exceptionThrown", {
      timestamp,
      exceptionDetails: {
        exceptionId: (lastException += 1),
        text: exception ? "Uncaught" : text,
        lineNumber: position.lineNumber,
        columnNumber: position.columnNumber,
        url: position.url,
        ...(trace ? { stackTrace: trace } : {}),
        ...(exception ? { exception: toClientValue(exception) } : {}),
        executionContextId: 1,
      },
    });
    return;
  }
  const args = parameters?.length > 0 ? parameters.map(toClientValue) : [{ type: "string", value: text }];
  session.emit("Runtime.consoleAPICalled", {
    type:
      TYPES[type] ??
      (level === "warning" || level === "error" || level === "debug" || level === "info" ? level : "log"),
    args,
    executionContextId: 1,
    timestamp,
    ...(trace ? { stackTrace: trace } : {}),
  });
}

let lastException = 0;

/** Converts the engine's seconds to milliseconds. */
function toMilliseconds(timestamp: unknown): number {
  if (typeof timestamp !== "number") return Date.now();
  return timestamp < 1e11 ? timestamp * 1000 : timestamp;
}

function toClientStack(stackTrace: Json, scripts: ScriptRegistry): Json {
  if (!stackTrace?.callFrames) return undefined;
  const callFrames = stackTrace.callFrames.flatMap((frame: Json) => {
    const { scriptId, functionName = "" } = frame;
    const script = scripts.get(scriptId);
    if (!script) return [];
    // The engine counts from 1, CDP from 0.
    const lineNumber = Math.max((frame.lineNumber ?? 1) - 1, 0);
    const columnNumber = Math.max((frame.columnNumber ?? 1) - 1, 0);
    const name = functionName === "module code" || functionName === "global code" ? "" : functionName;
    return [
      { functionName: name, url: script.url, ...scripts.toClient({ scriptId, lineNumber, columnNumber }) },
    ];
  });
  return { callFrames };
}
