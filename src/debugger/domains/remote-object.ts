// Converts WebKit RemoteObjects to CDP RemoteObjects. They differ in values that JSON cannot represent, in the names of subtypes,
// and in the description of collections, which CDP ends with the size.
import type { Json } from "../engine-connection.ts";

const KINDS = new Set([
  "array",
  "null",
  "regexp",
  "date",
  "map",
  "set",
  "weakmap",
  "weakset",
  "iterator",
  "error",
  "proxy",
  "promise",
  "typedarray",
]);
const SIZED = new Set(["array", "map", "set"]);
const WITHOUT_JSON = new Set(["NaN", "Infinity", "-Infinity", "-0"]);

export function toClientValue(value: Json): Json {
  if (!value) return { type: "undefined" };
  const { type, subtype, className, objectId, preview } = value;
  const result: Json = { type };
  const kind = kindOf(value);
  if (kind) result.subtype = kind;
  if (className !== undefined) result.className = className;
  if (objectId !== undefined) result.objectId = objectId;
  const description = describe(value);
  if (description !== undefined) result.description = description;
  if (type === "bigint") result.unserializableValue = description;
  else if (type === "number" && WITHOUT_JSON.has(description!)) result.unserializableValue = description;
  else if (subtype === "null") result.value = null;
  else if ("value" in value) result.value = value.value;
  if (preview) result.preview = toClientPreview(preview);
  return result;
}

function kindOf({ subtype, className }: Json): string | undefined {
  if (className === "Promise") return "promise";
  return KINDS.has(subtype) ? subtype : undefined;
}

function describe({ type, subtype, className, description, size, value }: Json): string | undefined {
  if (SIZED.has(subtype) && size !== undefined) return `${className ?? description}(${size})`;
  if (type === "bigint") return String(description ?? value).replace(/n?$/, "n");
  if (type === "number") return description ?? String(value);
  return description;
}

function toClientPreview(preview: Json): Json {
  const { type, overflow, properties = [], entries } = preview;
  const kind = kindOf(preview);
  return {
    type,
    ...(kind ? { subtype: kind } : {}),
    description: describe(preview),
    overflow: overflow ?? false,
    properties: properties.filter(({ internal }: Json) => !internal).map(toClientProperty),
    ...(entries ? { entries: entries.map(toClientEntry) } : {}),
  };
}

function toClientProperty({ name, type, subtype, value, valuePreview }: Json): Json {
  return {
    name,
    type,
    ...(KINDS.has(subtype) ? { subtype } : {}),
    ...(value === undefined ? {} : { value }),
    ...(valuePreview ? { valuePreview: toClientPreview(valuePreview) } : {}),
  };
}

function toClientEntry({ key, value }: Json): Json {
  return { ...(key ? { key: toClientPreview(key) } : {}), value: toClientPreview(value) };
}

/** Returns a JavaScript expression for a primitive or JSON value of a client. */
export function toExpression({ value, unserializableValue }: Json): string {
  return unserializableValue === undefined
    ? (JSON.stringify(value) ?? "undefined")
    : String(unserializableValue);
}

let lastException = 0;

/** Converts the result of an evaluation. */
export function toClientResult({ result, wasThrown }: Json): Json {
  const value = toClientValue(result);
  if (!wasThrown) return { result: value };
  const exceptionId = (lastException += 1);
  return {
    result: value,
    exceptionDetails: { exceptionId, text: "Uncaught", lineNumber: 0, columnNumber: 0, exception: value },
  };
}

/** Returns the result of a rejected evaluation: Chrome's EvalError. */
export function sideEffect(): Json {
  const description = "EvalError: Possible side-effect in debug-evaluate";
  const value = { type: "object", subtype: "error", className: "EvalError", description };
  return {
    result: value,
    exceptionDetails: {
      exceptionId: (lastException += 1),
      text: "Uncaught",
      lineNumber: 0,
      columnNumber: 0,
      exception: value,
    },
  };
}
