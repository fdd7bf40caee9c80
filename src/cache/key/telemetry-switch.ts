// Finds the variable that turns off the telemetry of a tool that a script ran.
//
// Non-obvious:
// - The tool's own file has the name, so no list of tools is needed. Only files with "telemetry" in their path are read:
//   to read all files of a tool would take seconds.
import { readFileSync } from "node:fs";
import type { TracedPath } from "../../../platform/tracing/contract/tracing.ts";
import { withSlashes } from "../relocation/stored-path.ts";

const INSTALLED = "/node_modules/";
const TELEMETRY = /telemetry.*\.[cm]?js$/i;
/** `NEXT_TELEMETRY_DISABLED`, `STORYBOOK_DISABLE_TELEMETRY`. */
const SWITCH = /\b[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*?(?:TELEMETRY_(?:DISABLED?|OPT_?OUT)|DISABLE_TELEMETRY)\b/;
/** Bytes. */
const MAX_SIZE = 1 << 20;

interface TelemetrySwitch {
  readonly name: string;
  /** The path behind `node_modules/`. */
  readonly file: string;
}

/** Returns the first variable that such a file names. */
export function findTelemetrySwitch(paths: readonly TracedPath[]): TelemetrySwitch | undefined {
  for (const { path, first, isRead } of paths) {
    const from = withSlashes(path).lastIndexOf(INSTALLED);
    if (!isRead || first.kind !== "file" || first.size > MAX_SIZE || from < 0) continue;
    const file = withSlashes(path).slice(from + INSTALLED.length);
    const [name] = TELEMETRY.test(file) ? (SWITCH.exec(readText(path)) ?? []) : [];
    if (name !== undefined) return { name, file };
  }
  return undefined;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // only the hint is lost
  }
}
