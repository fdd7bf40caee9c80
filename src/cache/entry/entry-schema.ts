// Validates the shape of an entry, field by field.
//
// Non-obvious:
// - Entries are untrusted: everyone with write access to the shared cache can create one. A local entry names files
//   that rt copies, and deletes if they are corrupt.
import type { StoredEntry } from "./entry.ts";
import { isPortablePath } from "../relocation/stored-path.ts";

type ShapeCheck = (value: unknown) => boolean;

const MAX_DATE = 8.64e15; // of a JavaScript date, in milliseconds

const isText: ShapeCheck = (value) => typeof value === "string";
const isHash: ShapeCheck = (value) => typeof value === "string" && /^[\da-f]{64}$/.test(value);
const isCount: ShapeCheck = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime: ShapeCheck = (value) => typeof value === "number" && value >= 0 && value <= MAX_DATE;
const isTexts: ShapeCheck = (value) => Array.isArray(value) && value.every(isText);

const CONDITIONS: Readonly<Record<string, readonly ShapeCheck[]>> = {
  absent: [],
  any: [],
  other: [],
  directory: [isCount],
  link: [isText],
  file: [isHash, isCount],
  size: [isCount, isCount],
  names: [isTexts],
};

const OUTPUTS: Readonly<Record<string, Readonly<Record<string, ShapeCheck>>>> = {
  file: { hash: isHash, mode: isCount },
  directory: { mode: isCount },
  link: { target: isText },
  absent: {},
};

const isRecord: ShapeCheck = (value) => typeof value === "object" && value !== null;
const isMention: ShapeCheck = (value) => isTexts(value) && (value as string[]).length === 3;
const isAbsolutePath: ShapeCheck = (value) => typeof value === "string" && value.startsWith("/");
const isStoredPath: ShapeCheck = (value) => isPortablePath(value, false);
const isProgram: ShapeCheck = (value) =>
  Array.isArray(value) &&
  value.length === 2 &&
  isText(value[0]) &&
  (value[1] === null || isStoredPath(value[1]));

function isPrograms(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { path, found } = value as Readonly<Record<string, unknown>>;
  return (
    [path, found].every(Array.isArray) &&
    (path as unknown[]).every(isStoredPath) &&
    (found as unknown[]).every(isProgram)
  );
}

const orNothing =
  (check: ShapeCheck): ShapeCheck =>
  (value) =>
    value === undefined || check(value);

const FIELDS: Readonly<Record<Exclude<keyof StoredEntry, "conditions" | "outputs">, ShapeCheck>> = {
  folders: orNothing((value) => isRecord(value) && Object.values(value as object).every(isAbsolutePath)),
  programs: orNothing(isPrograms),
  user: orNothing(isCount),
  isColored: orNothing((value) => typeof value === "boolean"),
  label: isText,
  root: isText,
  mentioned: (value) => Array.isArray(value) && value.every(isMention),
  created: isTime,
  duration: isTime,
  own: isTexts,
  log: isHash,
};

/** Returns the parsed JSON value if it is an entry; null otherwise. */
export function readEntry(value: unknown): StoredEntry | null {
  if (typeof value !== "object" || value === null) return null;
  const entry = value as StoredEntry;
  const isWhole =
    Object.entries(FIELDS).every(([name, check]) => check(entry[name as keyof StoredEntry])) &&
    Array.isArray(entry.conditions) &&
    entry.conditions.every(isCondition) &&
    Array.isArray(entry.outputs) &&
    entry.outputs.every(isOutput);
  return isWhole ? entry : null;
}

function isCondition(condition: unknown): boolean {
  if (!Array.isArray(condition)) return false;
  const [kind, path, ...rest] = condition as unknown[];
  if (!isPortablePath(path, false)) return false;
  const checks = typeof kind === "string" && Object.hasOwn(CONDITIONS, kind) ? CONDITIONS[kind] : undefined;
  // A directory listing may have stems in addition.
  if (kind === "names" && rest.length === 2) return rest.every(isTexts);
  return checks?.length === rest.length && checks.every((check, index) => check(rest[index]));
}

function isOutput(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const output = value as Readonly<Record<string, unknown>>;
  const { kind, path } = output;
  if (!isPortablePath(path, true)) return false;
  const checks = typeof kind === "string" && Object.hasOwn(OUTPUTS, kind) ? OUTPUTS[kind]! : undefined;
  return checks !== undefined && Object.entries(checks).every(([name, check]) => check(output[name]));
}
