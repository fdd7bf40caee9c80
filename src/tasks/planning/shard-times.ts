// Reads recorded durations of scripts from report files (`--shard-times`).
//
// Invariants:
// - A path is a report file, or a folder whose *.json files are read. If a script is in several reports, the
//   longest time counts.
// - Only the content matters, so that machines with the same files split alike.
// - A missing file is an error: that machine would split differently, and some scripts would run nowhere.
import { errorReason } from "../../../platform/caught-error.ts";
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";

export interface RecordedDurations {
  readonly size: number;
  /** Milliseconds. @param packageName "" for none */
  of(packageName: string, scriptName: string): number | undefined;
}

/** Upper limit of a plausible duration, about 25 days in milliseconds. */
const MAX_DURATION = 2 ** 31;

/** @throws UserError */
export function readTimes(paths: readonly string[], cwd: string): RecordedDurations {
  const { resolve } = process.getBuiltinModule("node:path");
  const times = new Map<string, number>();
  for (const path of paths.flatMap((each) => reportsAt(resolve(cwd, each)))) {
    for (const [name, time] of readReport(path)) times.set(name, Math.max(time, times.get(name) ?? 0));
  }
  return {
    size: times.size,
    of: (packageName, scriptName) => times.get(nameOf(packageName, scriptName)),
  };
}

function nameOf(packageName: string, scriptName: string): string {
  return JSON.stringify([packageName, scriptName]);
}

function reportsAt(path: string): string[] {
  const { readdirSync, statSync } = process.getBuiltinModule("node:fs");
  const { join } = process.getBuiltinModule("node:path");
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith(".json"));
    if (names.length === 0) throw refuse(path, "the folder contains no report");
    return names.map((name) => join(path, name));
  } catch (error) {
    throw error instanceof UserError ? error : refuse(path, errorReason(error));
  }
}

function readReport(path: string): [string, number][] {
  const { tasks } = parseReport(path);
  if (!Array.isArray(tasks)) throw refuse(path, "it is not a report of rt");
  return tasks.flatMap((each: unknown): [string, number][] => {
    if (typeof each !== "object" || each === null) throw refuse(path, "it is not a report of rt");
    const { package: packageName, script, outcome, duration, saved } = each as Record<string, unknown>;
    const time = saved ?? duration;
    const isName = (packageName === null || typeof packageName === "string") && typeof script === "string";
    if (!isName || typeof time !== "number" || !(time >= 0 && time < MAX_DURATION))
      throw refuse(path, "one of its tasks has no name or no time");
    // Skipped or stopped tasks have no meaningful duration.
    return outcome === "success" || outcome === "failure" ? [[nameOf(packageName ?? "", script), time]] : [];
  });
}

function parseReport(path: string): { readonly tasks?: unknown } {
  const { readFileSync } = process.getBuiltinModule("node:fs");
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw refuse(path, errorReason(error));
  }
  try {
    const report: unknown = JSON.parse(text);
    if (typeof report === "object" && report !== null) return report;
  } catch {
    // Reported below.
  }
  throw refuse(path, "it is not a report of rt");
}

function refuse(path: string, reason: string): UserError {
  return new UserError(
    `Cannot read times from ${oneLine(path)}: ${oneLine(reason)}`,
    "pass files written by --report, the same on every machine, or omit --shard-times",
  );
}
