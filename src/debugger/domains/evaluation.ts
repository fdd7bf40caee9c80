// Code that a client has run: in its console, in a watch, at a stop.
//
// What the engine lacks: `require` in a console, `await` outside of functions, and code that may not change anything. The
// first is there for the moment of the evaluation; the second is the engine's own translation for its shell; and of the
// third only names and their members are run, where no getter of the program's and no proxy is on the way; the rest is
// refused as Chrome refuses what has effects.
import type { Backend, Json } from "../engine-connection.ts";
import type { CdpHandler } from "../server/session.ts";
import { sideEffect, toClientResult } from "./remote-object.ts";

const HARMLESS =
  /^\s*[\p{ID_Start}$_][\p{ID_Continue}$]*(?:\s*(?:\?\.|\.)\s*[\p{ID_Start}$_#][\p{ID_Continue}$]*|\[\d+\])*\s*$/u;

const MEMBER = /\.\s*([\p{ID_Start}$_][\p{ID_Continue}$]*)|\[(\d+)\]/gu;

/** Whether a value's members can be read, one after the other, without code of the program's. */
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

/** @param run evaluates where the code would be evaluated */
async function isHarmless(expression: string, run: (expression: string) => Promise<Json>): Promise<boolean> {
  if (!HARMLESS.test(expression)) return false;
  const keys = [...expression.matchAll(MEMBER)].map(([, name, index]) => name ?? index);
  if (keys.length === 0) return true;
  const root = /[^\s.?[]+/.exec(expression)![0];
  const { result, wasThrown } = await run(
    `(${READS_ONLY})(${root}, ${JSON.stringify(keys)})\n//# sourceURL=rt:debugger`,
  );
  // What cannot be read says so itself.
  return wasThrown || result?.value === true;
}

const QUIETLY = { returnByValue: true, doNotPauseOnExceptionsAndMuteConsole: true };

const LEND_REQUIRE =
  "if (typeof require === 'undefined') Object.defineProperty(globalThis, 'require', { configurable: true, value: " +
  "process.getBuiltinModule('node:module').createRequire(process.cwd() + '/') })\n//# sourceURL=rt:debugger";
const TAKE_REQUIRE = "delete globalThis.require\n//# sourceURL=rt:debugger";

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
  const ask = (text: string) => backend.send("Runtime.evaluate", { expression: text, ...QUIETLY });
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
    backend.send("Debugger.evaluateOnCallFrame", { callFrameId, expression: text, ...QUIETLY });
  if (throwOnSideEffect && !(await isHarmless(expression, ask))) return sideEffect();
  const asked = { callFrameId, expression, ...optionsOf(params) };
  return toClientResult(
    await withRequire(backend, params, () => backend.send("Debugger.evaluateOnCallFrame", asked)),
  );
};

/** All three are on their way before the first is answered, so that nothing of the program runs in between. */
function withRequire(backend: Backend, params: Json, run: () => Promise<Json>): Promise<Json> {
  if (!params.includeCommandLineAPI || !/\brequire\b/.test(params.expression)) return run();
  void backend.send("Runtime.evaluate", { expression: LEND_REQUIRE });
  const answer = run();
  void backend.send("Runtime.evaluate", { expression: TAKE_REQUIRE });
  return answer;
}

/** As the engine's shell reads it: `await` anywhere, declarations that stay. The same text where it cannot be read. */
function translate(expression: string): string {
  try {
    const options = { loader: "tsx", replMode: true } as Bun.TranspilerOptions;
    return new Bun.Transpiler(options).transformSync(expression);
  } catch {
    return expression;
  }
}

/** What a promise comes to. */
export async function settle(backend: Backend, answer: Json, options: Json): Promise<Json> {
  const { result, wasThrown } = answer;
  if (wasThrown || result?.type !== "object" || result.objectId === undefined) return answer;
  if (result.className !== "Promise") {
    // A value that was asked for by a copy, and is none yet.
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

/** The shell's translation wraps what it comes to. */
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
