// `npm run test:cache -- --all [tools]`: each input of each tool is changed in each way, however long that takes. What was tried
// is in dist/cache-pass.json, so a pass that was ended goes on where it was; the next one, or one with `--anew`, begins at the
// beginning.
//
// Contract: exits with 1 where a change was not noticed, which stays in the file and is said again.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { REPOSITORY } from "../support/rt.ts";
import { findStale, recordRun } from "./recorded-run.ts";
import { missingProgram, WORKLOADS } from "./workloads.ts";

const FILE = join(REPOSITORY, "dist/cache-pass.json");
/** Changes between two writes of the file. */
const PORTION = 25;

/** Names of changes, by tool. */
type Progress = Record<string, { tried: string[]; stale: string[] }>;

function readProgress(): Progress {
  return existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Progress) : {};
}

function writeProgress(progress: Progress): void {
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(`${FILE}.new`, JSON.stringify(progress));
  renameSync(`${FILE}.new`, FILE);
}

const words = process.argv.slice(2);
const chosen = words.filter((word) => !word.startsWith("--"));
const unknown = chosen.filter((name) => !(name in WORKLOADS));
if (unknown.length > 0) {
  console.error(`error: there is no tool "${unknown[0]}"\nhint: ${Object.keys(WORKLOADS).join(", ")}`);
  process.exit(1);
}
if (words.includes("--anew")) rmSync(FILE, { force: true });
const progress = readProgress();
const names = chosen.length > 0 ? chosen : Object.keys(WORKLOADS);
for (const name of names) {
  const workload = WORKLOADS[name]!;
  const missing = missingProgram(workload);
  if (missing !== undefined) {
    console.log(`${name}: left out, since ${missing} is not installed`);
    continue;
  }
  const begin = Date.now();
  await using run = await recordRun(name, workload);
  if ((await run.look()) !== "hit") throw new Error(`${name} is no hit when nothing has changed`);
  const own = (progress[name] ??= { tried: [], stale: [] });
  const tried = new Set(own.tried);
  const left = run.changes.filter((change) => !tried.has(change.name));
  console.log(`${name}: ${run.recorded} recorded, ${run.changes.length} changes, ${left.length} to be tried`);
  for (let at = 0; at < left.length; at += PORTION) {
    const portion = left.slice(at, at + PORTION);
    own.stale.push(...(await findStale(run, portion)));
    own.tried.push(...portion.map((change) => change.name));
    writeProgress(progress);
  }
  if ((await run.look()) !== "hit") throw new Error(`${name} is no hit when everything is put back`);
  const seconds = Math.round((Date.now() - begin) / 1000);
  console.log(`${name}: ${own.tried.length} tried, ${own.stale.length} not noticed, ${seconds} s`);
}
const stale = names.flatMap((name) => (progress[name]?.stale ?? []).map((each) => `${name}: ${each}`));
for (const each of stale) console.log(`not noticed: ${each}`);
if (stale.length > 0) process.exit(1);
for (const name of names) delete progress[name];
writeProgress(progress);
