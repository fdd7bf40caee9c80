// How long scripts took in earlier runs, from the files that --report has written: what `--shard-times` names.
//
// Contract: a file, or a folder whose files *.json count. Nothing but their content matters, so that machines that have the
// same files split alike: of a script in several reports the longest time counts. A file that is not there is an error:
// the machine without it would split differently, and scripts would run nowhere.
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";

export interface RecordedDurations {
  /** How many scripts are known. */
  readonly size: number;
  /** Milliseconds. @param packageName "" for none */
  of(packageName: string, scriptName: string): number | undefined;
}

/** Longer than any script runs: about a month of milliseconds. */
const LONGEST = 2 ** 31;

/** Throws Failure. */
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
    if (names.length === 0) throw refuse(path, "there is no report in this folder");
    return names.map((name) => join(path, name));
  } catch (error) {
    throw error instanceof UserError
      ? error
      : refuse(path, (error as { code?: string }).code ?? String(error));
  }
}

function readReport(path: string): [string, number][] {
  const { tasks } = parseReport(path);
  if (!Array.isArray(tasks)) throw refuse(path, "it is no report of rt's");
  return tasks.flatMap((each: unknown): [string, number][] => {
    if (typeof each !== "object" || each === null) throw refuse(path, "it is no report of rt's");
    const { package: packageName, script, outcome, duration, saved } = each as Record<string, unknown>;
    const time = saved ?? duration;
    const isName = (packageName === null || typeof packageName === "string") && typeof script === "string";
    if (!isName || typeof time !== "number" || !(time >= 0 && time < LONGEST))
      throw refuse(path, "one of its tasks has no name or no time");
    // What was skipped, or ended by something else, says nothing of how long it takes.
    return outcome === "success" || outcome === "failure" ? [[nameOf(packageName ?? "", script), time]] : [];
  });
}

function parseReport(path: string): { readonly tasks?: unknown } {
  const { readFileSync } = process.getBuiltinModule("node:fs");
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw refuse(path, (error as { code?: string }).code ?? String(error));
  }
  try {
    const report: unknown = JSON.parse(text);
    if (typeof report === "object" && report !== null) return report;
  } catch {
    // Said below.
  }
  throw refuse(path, "it is no report of rt's");
}

function refuse(path: string, reason: string): UserError {
  return new UserError(
    `Cannot read the times of ${oneLine(path)}: ${oneLine(reason)}`,
    "--shard-times needs files that --report has written, the same on every machine; without it all scripts count alike",
  );
}
