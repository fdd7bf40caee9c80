// `npm run tools`: other people's tools in the newest version, installed where nothing else is. Each project of projects.ts
// runs under rt, and each of cached-projects.ts is cached; the tables of docs/tools.md and docs/caching.md are made of the
// results. Before a release, since it needs the network and some minutes.
//
//   npm run tools -- next vite     those only whose names have one of the words; the other rows stay as they are
import { CAN_TRACE } from "../cache/cached-project.ts";
import { CACHED_PROJECTS } from "./cached-projects.ts";
import { tryCaching } from "./cached-trial.ts";
import { openWorkshop } from "./installation.ts";
import { writeRows } from "./page-rows.ts";
import { tryProject } from "./project-trial.ts";
import { PROJECTS } from "./projects.ts";

const words = process.argv.slice(2).map((word) => word.toLowerCase());
const isChosen = ({ tool }: { readonly tool: string }) =>
  words.length === 0 || words.some((word) => tool.toLowerCase().includes(word));

let hasFailed = false;

/** @param expected what it says instead, where nothing can be done about it */
function report(said: string, failure: string | undefined, expected?: string): void {
  const isExpected = expected === undefined ? failure === undefined : failure?.includes(expected);
  console.log(`${isExpected ? "ok" : "not ok"} ${said}`);
  if (!isExpected) console.error(failure ?? `works now, and should say: ${expected}`);
  hasFailed ||= !isExpected;
}

/** What throws is a trial that could not be made: npm has failed, say. */
function failureOf(error: unknown): { version: string; failure: string } {
  return { version: "", failure: error instanceof Error ? error.message : `${error}` };
}

const workshop = openWorkshop();
const rows: string[][] = [];
for (const project of PROJECTS.filter(isChosen)) {
  const { tool, needs, fails } = project;
  const { failure, version } = await tryProject(project, workshop).catch(failureOf);
  report(`${tool} ${version}`, failure, fails);
  rows.push([tool, version, needs, failure === undefined ? "works" : "fails"]);
}
await writeRows(
  "docs/tools.md",
  ["Tool", "Tried with", "Needs", "Result"],
  PROJECTS.map(({ tool }) => tool),
  rows,
);

if (!CAN_TRACE) console.log("skipped: only on Linux can rt see what a tool does, and cache it by that");
const cachedRows: string[][] = [];
for (const project of CACHED_PROJECTS.filter((each) => CAN_TRACE && isChosen(each))) {
  const { tool, rule, remark } = project;
  const { failure, version, ways } = { ways: [], ...(await tryCaching(project, workshop).catch(failureOf)) };
  report(`${tool} ${version}: ${ways.join(", ")}`, failure);
  const found = remark === undefined ? "found" : `found; ${remark}`;
  const needs = rule === "true" ? "`true`" : "its line below";
  cachedRows.push([tool, version, needs, failure === undefined ? found : "not found"]);
}
await writeRows(
  "docs/caching.md",
  ["Tool", "Tried with", "Needs", "The same again"],
  CACHED_PROJECTS.map(({ tool }) => tool),
  cachedRows,
);
process.exit(hasFailed ? 1 : 0);
