// What was found out about a script when it was last looked at, for `rt cache why`, and for the next look.
import type { Entry } from "./entry.ts";
import type { Field } from "./key.ts";

/** What is known of a script for `rt cache why`. */
export interface Finding {
  readonly label: string;
  readonly at: number;
  readonly text: string;
  readonly key: string;
  readonly fields: readonly Field[];
}

export const FAILED = "its last run failed";

export function parseFinding(text: string | null): Finding | undefined {
  try {
    return text === null ? undefined : (JSON.parse(text) as Finding);
  } catch {
    return undefined;
  }
}

/** @param where it ran, if not here: for the end of a sentence */
export function describeHit({ conditions, created }: Entry, where = ""): string {
  const paths =
    conditions.length === 0 ? "declared" : `${new Set(conditions.map(([, path]) => path)).size} paths`;
  const when = new Date(created).toISOString();
  return `nothing that it depends on (${paths}) has changed since ${when}${where}`;
}
