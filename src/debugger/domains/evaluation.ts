// Evaluates code for a client: in its console, in a watch expression, at a pause.
//
// Non-obvious: the engine lacks three features of Chrome.
// - `require` in a console: it is defined during the evaluation.
// - Top-level `await`: the expression is transpiled in REPL mode.
// - `throwOnSideEffect`: only member accesses without getters or proxies are evaluated; any other code is rejected, as Chrome
//   rejects code with side effects.
import type { Backend, Json } from "../engine-connection.ts";
import type { CdpHandler } from "../server/session.ts";
import { sideEffect, toClientResult } from "./remote-object.ts";

const HARMLESS =
  /^\s*[\p{ID_Start}$_][\p{ID_Continue}$]*(?:\s*(?:\?\.|\.)\s*[\p{ID_Start}$_#][\p{ID_Continue}$]*|\[\d+\])*\s*$/u;

const MEMBER = /\.\s*([\p{ID_Start}$_][\p{ID_Continue}$]*)|\[(\d+)\]/gu;

/** Returns true if a chain of members can be read without running the program's code. */
const READS_ONLY = `($value, $keys) => {
  const { Object, Function, process } = globalThis;
  const { isProxy } = process.getBuiltinModule("node:util").types;
  for (const $key of $keys) {
    if ($value === null || $value === undefined) return true;
    let [$holder, $found] = [Object($value)];
    while ($holder !== null && !$found) {
      if (isProxy($holder)) return false;
      $found = Object.getOwnPropertyDescriptor($holder, $key);
      $holder = Object.getPrototypeOf($holder);
    }
    const { get } = $found ?? {};
    if (get && !/{\\s*\\[native code\\]\\s*}$/.test(Function.prototype.toString.call(get))) return false;
    $value = $value[$key];
  }
  return true;
}`;

/** @param run evaluates code in the same context as the expression */
async function isHarmless(expression: string, run: (expression: string) => Promise<Json>): Promise<boolean> {
  if (!HARMLESS.test(expression)) return false;
  const keys = [...expression.matchAll(MEMBER)].map(([, name, index]) => name ?? index);
  if (keys.length === 0) return true;
  const root = /[^\s.?[]+/.exec(expression)![0];
  const { result, wasThrown } = await run(
    `(${READS_ONLY})(${root}, ${JSON.stringify(keys)})\n//# sourceURL=rt:debugger`,
  );
  // An unreadable root throws the same error as the expression would.
  return wasThrown || result?.value === true;
}

const SILENT_OPTIONS = { returnByValue: true, doNotPauseOnExceptionsAndMuteConsole: true };

const DEFINE_REQUIRE =
  "if (typeof require === 'undefined') Object.defineProperty(globalThis, 'require', { configurable: true, value: " +
  "process.getBuiltinModule('node:module').createRequire(process.cwd() + '/') })\n//# sourceURL=rt:debugger";
const DELETE_REQUIRE = "delete globalThis.require\n//# sourceURL=rt:debugger";

export function refuseUnless(isFine: boolean, message: string): void {
  if (!isFine) throw new Error(message);
}

function optionsOf(params: Json): Json {
  return {
    objectGroup: params.objectGroup,
    includeCommandLineAPI: params.includeCommandLineAPI,
    doNotPauseOnExceptionsAndMuteConsole: params.silent,
    returnByValue: params.returnByValue,
    generatePreview: params.generatePreview,
  };
}

export const evaluate: CdpHandler = async (params, { backend }) => {
  const { expression, throwOnSideEffect, awaitPromise, replMode } = params;
  const ask = (text: string) => backend.send("Runtime.evaluate", { expression: text, ...SILENT_OPTIONS });
  if (throwOnSideEffect && !(await isHarmless(expression, ask))) return sideEffect();
  const options = optionsOf(params);
  const isLong = replMode && /\bawait\b/.test(expression);
  const text = isLong ? translate(expression) : expression;
  const isAwaited = awaitPromise || (isLong && text !== expression);
  const first = isAwaited ? { ...options, returnByValue: false } : options;
  const done = withRequire(backend, params, () =>
    backend.send("Runtime.evaluate", { expression: text, ...first }),
  );
  const answer = isAwaited ? await settle(backend, await done, options) : await done;
  return toClientResult(text === expression ? answer : await unwrap(backend, answer, options));
};

export const evaluateOnFrame: CdpHandler = async (params, { backend }) => {
  const { callFrameId, expression, throwOnSideEffect } = params;
  const ask = (text: string) =>
    backend.send("Debugger.evaluateOnCallFrame", { callFrameId, expression: text, ...SILENT_OPTIONS });
  if (throwOnSideEffect && !(await isHarmless(expression, ask))) return sideEffect();
  const asked = { callFrameId, expression, ...optionsOf(params) };
  return toClientResult(
    await withRequire(backend, params, () => backend.send("Debugger.evaluateOnCallFrame", asked)),
  );
};

/** Sends all three requests without awaiting a response, so that no code of the program runs in between. */
function withRequire(backend: Backend, params: Json, run: () => Promise<Json>): Promise<Json> {
  if (!params.includeCommandLineAPI || !/\brequire\b/.test(params.expression)) return run();
  void backend.send("Runtime.evaluate", { expression: DEFINE_REQUIRE });
  const answer = run();
  void backend.send("Runtime.evaluate", { expression: DELETE_REQUIRE });
  return answer;
}

/** Transpiles in REPL mode: `await` at top level, declarations become globals. Returns invalid code unchanged. */
function translate(expression: string): string {
  try {
    const options = { loader: "tsx", replMode: true } as Bun.TranspilerOptions;
    return new Bun.Transpiler(options).transformSync(expression);
  } catch {
    return expression;
  }
}

/** Awaits the result if it is a promise. */
export async function settle(backend: Backend, answer: Json, options: Json): Promise<Json> {
  const { result, wasThrown } = answer;
  if (wasThrown || result?.type !== "object" || result.objectId === undefined) return answer;
  if (result.className !== "Promise") {
    // With returnByValue, the object is converted to a value.
    if (!options.returnByValue) return answer;
    const functionDeclaration = "function () { return this; }";
    return await backend.send("Runtime.callFunctionOn", {
      objectId: result.objectId,
      functionDeclaration,
      ...options,
    });
  }
  const { returnByValue, generatePreview } = options;
  const promiseObjectId = result.objectId;
  return await backend.send("Runtime.awaitPromise", { promiseObjectId, returnByValue, generatePreview });
}

/** Unwraps the result of REPL mode, which is an object with `value`. */
async function unwrap(backend: Backend, answer: Json, options: Json): Promise<Json> {
  const { result, wasThrown } = answer;
  if (wasThrown) return answer;
  if (result?.value && typeof result.value === "object") {
    const { value } = result.value;
    return { result: { type: typeof value, value } };
  }
  if (result?.objectId === undefined) return answer;
  const functionDeclaration = "function () { return this.value; }";
  return await backend.send("Runtime.callFunctionOn", {
    objectId: result.objectId,
    functionDeclaration,
    ...options,
  });
}
