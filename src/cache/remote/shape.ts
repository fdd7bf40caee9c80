// Whether what came from elsewhere has the shape of an entry, to the last field. What is kept on this machine was written by
// rt; this was written by whoever may write to the shared cache.
import type { KeptEntry } from "../entry.ts";
import { readEntry } from "../kept-entry.ts";

type Check = (value: unknown) => boolean;

const LATEST = 8.64e15; // of a date, in milliseconds

const isText: Check = (value) => typeof value === "string";
const isHash: Check = (value) => typeof value === "string" && /^[\da-f]{64}$/.test(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isTime: Check = (value) => typeof value === "number" && value >= 0 && value <= LATEST;
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);

const CONDITIONS: Readonly<Record<string, readonly Check[]>> = {
  absent: [],
  directory: [],
  any: [],
  link: [isText],
  file: [isHash, isCount],
  size: [isCount, isCount],
  names: [isTexts],
};

const OUTPUTS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  file: { hash: isHash, mode: isCount },
  directory: { mode: isCount },
  link: { target: isText },
  absent: {},
};

const FIELDS: Readonly<Record<Exclude<keyof KeptEntry, "conditions" | "outputs">, Check>> = {
  label: isText,
  root: isText,
  mentioned: isTexts,
  created: isTime,
  duration: isTime,
  own: isTexts,
  log: isHash,
};

/** Null for anything else. */
export function readSharedEntry(value: unknown): KeptEntry | null {
  const entry = readEntry(value);
  if (!entry) return null;
  const isWhole =
    Object.entries(FIELDS).every(([name, check]) => check(entry[name as keyof KeptEntry])) &&
    entry.conditions.every(isCondition) &&
    entry.outputs.every(isOutput);
  return isWhole ? entry : null;
}

function isCondition(condition: unknown): boolean {
  if (!Array.isArray(condition)) return false;
  const [kind, , ...rest] = condition as unknown[];
  const checks = typeof kind === "string" && Object.hasOwn(CONDITIONS, kind) ? CONDITIONS[kind] : undefined;
  return checks?.length === rest.length && checks.every((check, index) => check(rest[index]));
}

function isOutput(value: unknown): boolean {
  const output = value as Readonly<Record<string, unknown>>;
  const { kind } = output;
  const checks = typeof kind === "string" && Object.hasOwn(OUTPUTS, kind) ? OUTPUTS[kind]! : undefined;
  return checks !== undefined && Object.entries(checks).every(([name, check]) => check(output[name]));
}
