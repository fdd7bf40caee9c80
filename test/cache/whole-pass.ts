// `npm run test:cache -- --all [tools]`: makes each change of each input, which must be a miss, and of each other path, which
// must be a hit. `--every=10` tries a tenth of them. dist/cache-pass.json stores the progress, so an interrupted pass
// continues.
// Invariants:
// - Exits with 1 if a change had the wrong result. These changes stay in the file and are printed again.
// - A new pass, or one with `--anew`, starts from the beginning.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { REPOSITORY } from "../support/rt.ts";
import { findNeedless, findStale, type InputChange, recordRun } from "./tracing/recorded-run.ts";
import { missingProgram, WORKLOADS } from "./tracing/tool-projects.ts";

const FILE = join(REPOSITORY, "dist/cache-pass.json");
/** The number of changes between two writes of the file. */
const PORTION = 25;

/** The names of changes, by tool. */
type Progress = Record<string, { tried: string[]; stale: string[]; needless: string[] }>;

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
const every = Number(words.find((word) => word.startsWith("--every="))?.slice("--every=".length) ?? 1);
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
  await using run = await recordRun(name, workload, true);
  if ((await run.validate()) !== "hit")
    throw new Error(`${name} is no hit when nothing has changed: ${await run.explain()}`);
  const own = (progress[name] ??= { tried: [], stale: [], needless: [] });
  const tried = new Set(own.tried);
  const some = (changes: readonly InputChange[]) =>
    changes.filter((change, index) => index % every === 0 && !tried.has(change.name));
  const [inputs, others] = [some(run.changes), some(run.others)];
  console.log(
    `${name}: ${run.recorded} recorded; ${inputs.length} of ${run.changes.length} changes of inputs and ` +
      `${others.length} of ${run.others.length} of what is none are to be tried`,
  );
  const go = async (changes: readonly InputChange[], kind: "stale" | "needless", find: typeof findStale) => {
    for (let at = 0; at < changes.length; at += PORTION) {
      const portion = changes.slice(at, at + PORTION);
      own[kind].push(...(await find(run, portion)));
      own.tried.push(...portion.map((change) => change.name));
      writeProgress(progress);
    }
  };
  await go(inputs, "stale", findStale);
  await go(others, "needless", findNeedless);
  const seconds = Math.round((Date.now() - begin) / 1000);
  const { stale, needless } = own;
  console.log(
    `${name}: ${own.tried.length} tried, ${stale.length} not noticed, ${needless.length} without a need, ${seconds} s`,
  );
}
const faults = names.flatMap((name) => [
  ...(progress[name]?.stale ?? []).map((each) => `not noticed: ${name}: ${each}`),
  ...(progress[name]?.needless ?? []).map((each) => `without a need: ${name}: ${each}`),
]);
for (const each of faults) console.log(each);
if (faults.length > 0) process.exit(1);
for (const name of names) delete progress[name];
writeProgress(progress);
