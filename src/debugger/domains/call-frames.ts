// Where the program stands: its frames and their scopes, in Chrome's words.
//
// The engine has two closures for a function's own variables, one for its parameters and one for the rest, and the scope
// of a module has next to no properties. So the first are shown as one scope, and the second gets the names that stand in the
// module's text. Such a scope has an id that says what it is made of: see readScopeId().
import type { Json } from "../engine-connection.ts";
import type { ScriptRegistry } from "./scripts.ts";
import { toClientValue } from "./remote-object.ts";

export interface Pause {
  /** In Chrome's words. */
  readonly callFrames: Json[];
  /** The engine's place of the uppermost, and its name. */
  readonly top?: { readonly location: Json; readonly callFrameId: string };
}

export type ScopeId =
  | { readonly kind: "parts"; readonly objects: readonly string[] }
  | {
      readonly kind: "module";
      readonly callFrameId: string;
      readonly scriptId: string;
      /** The scopes around which it lies: a name of theirs means something else where the program stands. */
      readonly inner: readonly string[];
    };

const MARK = "rt:scope:";
const KINDS: Readonly<Record<string, string>> = {
  global: "global",
  with: "with",
  closure: "closure",
  catch: "catch",
  functionName: "closure",
  globalLexicalEnvironment: "script",
  nestedLexical: "block",
};
/** What the engine calls code outside of functions. */
const UNNAMED = new Set(["module code", "global code", "eval code"]);

export function readPause({ callFrames = [] }: Json, scripts: ScriptRegistry): Pause {
  const [top] = callFrames;
  const shown = callFrames.filter(({ location }: Json) => scripts.get(location.scriptId));
  return {
    callFrames: shown.map((frame: Json) => toClientFrame(frame, scripts)),
    ...(top ? { top } : {}),
  };
}

function toClientFrame(frame: Json, scripts: ScriptRegistry): Json {
  const { callFrameId, functionName = "", location, scopeChain = [] } = frame;
  return {
    callFrameId,
    functionName: UNNAMED.has(functionName) ? "" : functionName,
    location: scripts.toClient(location),
    url: scripts.get(location.scriptId)!.url,
    scopeChain: toClientScopes(frame, scopeChain, scripts),
    this: toClientValue(frame.this),
    canBeRestarted: false,
  };
}

function toClientScopes(
  { callFrameId, functionName, location }: Json,
  chain: Json[],
  scripts: ScriptRegistry,
): Json[] {
  const result: Json[] = [];
  const own: Json[] = [];
  const inner: string[] = [];
  const first = chain.find(({ type }) => type === "closure");
  const isModule = scripts.get(location.scriptId)?.description.isModule;
  for (const scope of chain) {
    const { type, object, name, empty } = scope;
    if (type === "closure" && first?.location && isSameFunction(scope, first)) {
      if (own.push(scope) === 1) result.push({ type: "local", name: functionName || name || "", own });
    } else if (type === "closure" && !scope.location && !name && isModule) {
      const id: ScopeId = {
        kind: "module",
        callFrameId,
        scriptId: location.scriptId,
        inner: [...inner],
      };
      result.push({ type: "module", object: toScopeObject(id, "Module") });
    } else if (!empty || type === "global") {
      result.push({
        type: KINDS[type] ?? "closure",
        object: toClientValue(object),
        ...(name ? { name } : {}),
      });
    }
    if (object?.objectId !== undefined) inner.push(object.objectId);
  }
  return result.map((scope) => {
    if (!scope.own) return scope;
    const { own: parts, ...rest } = scope;
    const objects = parts.map(({ object }: Json) => object.objectId);
    return { ...rest, object: toScopeObject({ kind: "parts", objects }, "Object") };
  });
}

/** A function's closures begin at one place. */
function isSameFunction(scope: Json, first: Json): boolean {
  const [a, b] = [scope.location, first.location];
  return a?.scriptId === b.scriptId && a?.lineNumber === b.lineNumber && a?.columnNumber === b.columnNumber;
}

function toScopeObject(id: ScopeId, description: string): Json {
  return { type: "object", className: "Object", description, objectId: MARK + JSON.stringify(id) };
}

/** undefined for an object of the engine's. */
export function readScopeId(objectId: unknown): ScopeId | undefined {
  return typeof objectId === "string" && objectId.startsWith(MARK)
    ? (JSON.parse(objectId.slice(MARK.length)) as ScopeId)
    : undefined;
}

/** What the translation for the engine's shell begins with: a line for each declaration, whatever it looked like. */
const DECLARED = /^(?:var [^=;\n]+;\n)*/;

/** The names that a module declares, by the text that the engine made of it; none where that cannot be read. */
export function moduleNames(text: string): string[] {
  try {
    const options = { loader: "js", replMode: true } as Bun.TranspilerOptions;
    const [head] = DECLARED.exec(new Bun.Transpiler(options).transformSync(text))!;
    return head
      .replaceAll(/^var |;$/gm, "")
      .split(/,\s*|\n/)
      .filter((name) => name !== "");
  } catch {
    return [];
  }
}
