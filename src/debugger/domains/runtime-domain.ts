// Implements the CDP Runtime domain: console, values and their properties, evaluation.
import type { Json } from "../engine-connection.ts";
import { pauseBeforeEntry } from "../entry-pauses.ts";
import { startReporting, stopReporting } from "../server/multi-client.ts";
import { evaluate, settle } from "./evaluation.ts";
import { callAgent } from "./profiler-domain.ts";
import { moduleNames, readScopeId, type ScopeId } from "./call-frames.ts";
import type { Commands, ClientSession } from "../server/session.ts";
import { toClientResult, toClientValue, toExpression } from "./remote-object.ts";

const CONTEXT = {
  id: 1,
  origin: "",
  uniqueId: "rt.1",
  auxData: { isDefault: true },
};

export const RUNTIME: Commands = {
  "Runtime.enable": async (_params, session) => {
    const { emit, program } = session;
    if (session.isReporting) return;
    session.isReporting = true;
    emit("Runtime.executionContextCreated", { context: { ...CONTEXT, name: program.title } });
    await startReporting(session);
  },
  "Runtime.disable": async (_params, session) => stopReporting(session),
  "Runtime.runIfWaitingForDebugger": async (_params, session) => {
    const { backend, program } = session;
    if (!program.isWaiting) return;
    await program.loaded;
    if (session.enabling) {
      pauseBeforeEntry(true, session);
      await backend.send("Debugger.pause");
    }
    program.start();
  },
  "Runtime.evaluate": evaluate,
  "Runtime.callFunctionOn": async (params, { backend }) => {
    const { objectId, objectGroup, awaitPromise, silent, returnByValue, generatePreview } = params;
    const scope = readScopeId(objectId);
    const target = scope
      ? scope.kind === "parts" && scope.objects[0]
      : (objectId ?? (await globalObject(backend.send)));
    if (!target) throw new Error("A module scope is not an object");
    const options = { objectGroup, doNotPauseOnExceptionsAndMuteConsole: silent, generatePreview };
    const answer = await backend.send("Runtime.callFunctionOn", {
      objectId: target,
      ...withArguments(params),
      ...options,
      returnByValue: returnByValue && !awaitPromise,
    });
    return toClientResult(
      awaitPromise ? await settle(backend, answer, { ...options, returnByValue }) : answer,
    );
  },
  "Runtime.getProperties": async (params, session) => {
    const scope = readScopeId(params.objectId);
    if (scope)
      return { result: params.accessorPropertiesOnly ? [] : await propertiesOfScope(scope, session) };
    return await propertiesOf(params, session);
  },
  "Runtime.awaitPromise": async ({ promiseObjectId, returnByValue, generatePreview }, { backend }) =>
    toClientResult(
      await backend.send("Runtime.awaitPromise", { promiseObjectId, returnByValue, generatePreview }),
    ),
  "Runtime.releaseObject": async ({ objectId }, { backend }) =>
    readScopeId(objectId) ? {} : backend.send("Runtime.releaseObject", { objectId }),
  "Runtime.releaseObjectGroup": async ({ objectGroup }, { backend }) =>
    backend.send("Runtime.releaseObjectGroup", { objectGroup }),
  "Runtime.compileScript": async ({ expression, persistScript }, { backend, compiled }) => {
    const { result, message } = await backend.send("Runtime.parse", { source: expression });
    if (result === "none") {
      const scriptId = `rt.${compiled.size + 1}`;
      if (persistScript) compiled.set(scriptId, expression);
      return persistScript ? { scriptId } : {};
    }
    const description = `SyntaxError: ${message}`;
    const exception = { type: "object", subtype: "error", className: "SyntaxError", description };
    return {
      exceptionDetails: { exceptionId: 0, text: "Uncaught", lineNumber: 0, columnNumber: 0, exception },
    };
  },
  "Runtime.runScript": async (params, session) => {
    const expression = session.compiled.get(params.scriptId);
    if (expression === undefined) throw new Error("No script with given id");
    return await evaluate({ ...params, expression }, session);
  },
  "Runtime.getIsolateId": () => ({ id: "rt" }),
  "Runtime.getHeapUsage": async (_params, { backend }) => {
    const expression =
      "(({ heapUsed, heapTotal }) => ({ usedSize: heapUsed, totalSize: heapTotal }))(process.memoryUsage())";
    return (await backend.send("Runtime.evaluate", { expression, returnByValue: true })).result.value;
  },
  "Runtime.globalLexicalScopeNames": () => ({ names: [] }),
  "Runtime.queryObjects": async ({ prototypeObjectId, objectGroup }, { backend }) => {
    const { savedResultIndex } = await backend.send("Runtime.saveResult", {
      value: { type: "object", objectId: prototypeObjectId },
    });
    const expression = `queryObjects($${savedResultIndex})`;
    const asked = { expression, objectGroup, includeCommandLineAPI: true };
    const { result, wasThrown } = await backend.send("Runtime.evaluate", asked);
    if (wasThrown) throw new Error(String(result.description));
    return { objects: toClientValue(result) };
  },
  "Runtime.getExceptionDetails": async ({ errorObjectId }, { backend, scripts }) => {
    const answer = await backend.send("Runtime.callFunctionOn", {
      objectId: errorObjectId,
      functionDeclaration: READ_ERROR,
      returnByValue: true,
    });
    const read = answer.result.value;
    if (!read) throw new Error("errorObjectId is not a JS error object");
    const script = scripts.find(read.url);
    const exception = { type: "object", subtype: "error", objectId: errorObjectId, ...read.exception };
    return {
      exceptionDetails: {
        exceptionId: 0,
        text: "Uncaught",
        lineNumber: Math.max(read.line - 1, 0),
        columnNumber: Math.max(read.column - 1, 0),
        ...(script ? { scriptId: script.scriptId, url: script.url } : {}),
        exception,
      },
    };
  },
  "Runtime.addBinding": async ({ name }, session) => {
    await callAgent(session, "bind", { name });
    session.bindings.add(name);
  },
  // The function remains in the program, as in Chrome.
  "Runtime.removeBinding": ({ name }, { bindings }) => void bindings.delete(name),
};

const READ_ERROR = `function () {
  if (!(this instanceof Error)) return null;
  const { name, stack, line = 0, column = 0, sourceURL = "" } = this;
  return { line, column, url: sourceURL, exception: { className: name, description: String(stack) } };
}`;

async function globalObject(send: ClientSession["backend"]["send"]): Promise<string> {
  return (await send("Runtime.evaluate", { expression: "globalThis\n//# sourceURL=rt:debugger" })).result
    .objectId;
}

/** Wraps the client's function in one with the values that JSON cannot represent, because the engine accepts only JSON. */
function withArguments({ functionDeclaration, arguments: given = [] }: Json): Json {
  if (!given.some(({ unserializableValue }: Json) => unserializableValue !== undefined))
    return { functionDeclaration, arguments: given };
  const values = given.map((each: Json, index: number) =>
    each.unserializableValue === undefined ? `$${index}` : toExpression(each),
  );
  const names = given.map((_each: Json, index: number) => `$${index}`);
  return {
    functionDeclaration: `function (${names.join(",")}) { return (${functionDeclaration}).call(${["this", ...values].join(",")}); }`,
    arguments: given.map((each: Json) => (each.unserializableValue === undefined ? each : { value: null })),
  };
}

async function propertiesOf(params: Json, { backend }: ClientSession): Promise<Json> {
  const { objectId, ownProperties, accessorPropertiesOnly, generatePreview } = params;
  const asked = { objectId, ownProperties: ownProperties && !accessorPropertiesOnly, generatePreview };
  const { properties = [], internalProperties = [] } = await backend.send("Runtime.getProperties", asked);
  const result: Json[] = [];
  const internal = internalProperties.map(({ name, value }: Json) => ({
    name: name.startsWith("[[") ? name : `[[${name}]]`,
    value: toClientValue(value),
  }));
  for (const property of properties) {
    const isAccessor = property.get !== undefined || property.set !== undefined;
    if (property.name === "__proto__" && property.value) {
      internal.push({ name: "[[Prototype]]", value: toClientValue(property.value) });
    } else if (!accessorPropertiesOnly || isAccessor) {
      result.push(toClientProperty(property));
    }
  }
  if (accessorPropertiesOnly) return { result };
  const entries = await entriesOf(objectId, internal, backend);
  return { result, internalProperties: entries ? [entries, ...internal] : internal };
}

function toClientProperty({ name, value, get, set, symbol, ...flags }: Json): Json {
  return {
    name,
    configurable: flags.configurable ?? false,
    enumerable: flags.enumerable ?? false,
    isOwn: flags.isOwn ?? false,
    ...(flags.writable === undefined ? {} : { writable: flags.writable }),
    ...(flags.wasThrown ? { wasThrown: true } : {}),
    ...(value ? { value: toClientValue(value) } : {}),
    ...(get ? { get: toClientValue(get) } : {}),
    ...(set ? { set: toClientValue(set) } : {}),
    ...(symbol ? { symbol: toClientValue(symbol) } : {}),
  };
}

/** Uses the builtin functions, because a class of the program may override these methods. */
const ENTRIES = `function () {
  try {
    return Array.from(Map.prototype.entries.call(this), ([key, value]) => ({ key, value }));
  } catch {}
  try {
    return Array.from(Set.prototype.values.call(this));
  } catch {}
}`;

/** Builtin classes without entries. */
const WITHOUT_ENTRIES = /^(?:Object|Array|Function|Promise|Error|RegExp|Date)\b/;

/** Returns the entries of a Map or Set, which are not properties; undefined for any other object. */
async function entriesOf(
  objectId: string,
  internal: Json[],
  { send }: ClientSession["backend"],
): Promise<Json> {
  const prototype = internal.find(({ name }) => name === "[[Prototype]]")?.value;
  if (!prototype || WITHOUT_ENTRIES.test(prototype.description ?? prototype.className ?? ""))
    return undefined;
  const asked = { objectId, functionDeclaration: ENTRIES, doNotPauseOnExceptionsAndMuteConsole: true };
  const { result, wasThrown } = await send("Runtime.callFunctionOn", asked);
  if (wasThrown || result?.subtype !== "array") return undefined;
  return { name: "[[Entries]]", value: toClientValue(result) };
}

/** The engine lists these even if the function does not use them. */
const UNLISTED = new Set(["__proto__", "arguments"]);

async function propertiesOfScope(scope: ScopeId, session: ClientSession): Promise<Json[]> {
  const { backend } = session;
  const objects = scope.kind === "parts" ? scope.objects : [await moduleObject(scope, session)];
  const variables = new Map<string, Json>();
  for (const objectId of objects) {
    const asked = { objectId, ownProperties: true, generatePreview: true };
    const { properties = [] } = await backend.send("Runtime.getProperties", asked);
    for (const property of properties)
      if (!UNLISTED.has(property.name) && !variables.has(property.name))
        variables.set(property.name, { ...toClientProperty(property), isOwn: true });
  }
  return [...variables.values()];
}

/** Creates an object with the module's variables, except uninitialized and shadowed ones. Returns its ID. */
async function moduleObject(
  { callFrameId, scriptId, inner }: Extract<ScopeId, { kind: "module" }>,
  { backend }: ClientSession,
): Promise<string> {
  const { scriptSource } = await backend.send("Debugger.getScriptSource", { scriptId });
  const hidden = new Set(["$scope"]);
  for (const objectId of inner) {
    const { properties = [] } = await backend.send("Runtime.getProperties", {
      objectId,
      ownProperties: true,
    });
    for (const { name } of properties) hidden.add(name);
  }
  const names = moduleNames(scriptSource).filter((name) => !hidden.has(name));
  const reads = names.map((name) => `try { $scope.${name} = ${name} } catch {}`);
  const expression = `(() => { const $scope = Object.create(null); ${reads.join(";")}; return $scope; })()`;
  const asked = { callFrameId, expression, doNotPauseOnExceptionsAndMuteConsole: true };
  return (await backend.send("Debugger.evaluateOnCallFrame", asked)).result.objectId;
}
