// Converts the call frames and scopes of a pause to CDP.
//
// Non-obvious:
// - The engine has two closures for a function's variables, one of them for parameters. They are merged into one scope.
// - The engine's scope of a module has almost no properties. Its names are read from the module's text.
// - Such a scope has an object ID that encodes its parts: see readScopeId().
import type { Json } from "../engine-connection.ts";
import type { ScriptRegistry } from "./scripts.ts";
import { toClientValue } from "./remote-object.ts";

export interface Pause {
  readonly callFrames: Json[];
  /** The engine's location and ID of the top frame. */
  readonly top?: { readonly location: Json; readonly callFrameId: string };
}

export type ScopeId =
  | { readonly kind: "parts"; readonly objects: readonly string[] }
  | {
      readonly kind: "module";
      readonly callFrameId: string;
      readonly scriptId: string;
      /** Object IDs of the inner scopes, whose variables shadow the module's. */
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
/** The engine's names for code outside of functions. */
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

/** The closures of one function have the same location. */
function isSameFunction(scope: Json, first: Json): boolean {
  const [a, b] = [scope.location, first.location];
  return a?.scriptId === b.scriptId && a?.lineNumber === b.lineNumber && a?.columnNumber === b.columnNumber;
}

function toScopeObject(id: ScopeId, description: string): Json {
  return { type: "object", className: "Object", description, objectId: MARK + JSON.stringify(id) };
}

/** Returns undefined for an object ID of the engine. */
export function readScopeId(objectId: unknown): ScopeId | undefined {
  return typeof objectId === "string" && objectId.startsWith(MARK)
    ? (JSON.parse(objectId.slice(MARK.length)) as ScopeId)
    : undefined;
}

/** The REPL transpilation begins with one `var` line per declaration. */
const DECLARED = /^(?:var [^=;\n]+;\n)*/;

/** Returns the names that a module declares at top level, from its transpiled text; [] if it cannot be parsed. */
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
