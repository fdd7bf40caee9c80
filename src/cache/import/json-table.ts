// Reads values of parsed JSON, whose types are unknown.

export type JsonTable = Readonly<Record<string, unknown>>;

export function isTable(value: unknown): value is JsonTable {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function tableOf(value: unknown): JsonTable {
  return isTable(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textsOf(value: unknown): string[] {
  return listOf(value).filter((each) => typeof each === "string");
}
