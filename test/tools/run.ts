// `npm run tools`: runs third-party tools in their newest versions under rt, with the cache and with permissions, and writes the
// tables of docs/reference/tools.md and docs/reference/cache.md. It runs only before a release, because it needs the network and minutes.
//
//   npm run tools -- next vite     only tools whose names contain one of the words; other rows are unchanged
import { CAN_TRACE } from "../cache/cached-project.ts";
import { serveCache, variablesFor } from "../cache/server/served-cache.ts";
import { CACHED_PROJECTS } from "./cached-projects.ts";
import { tryCaching } from "./cached-trial.ts";
import { openWorkshop } from "./installation.ts";
import { writeRows } from "./page-rows.ts";
import { type PermissionTrial, permittedRow, tryPermissions } from "./permission-trial.ts";
import { PERMITTED_PROJECTS } from "./permitted-projects.ts";
import { startPublicServer } from "./public-server.ts";
import { tryProject } from "./project-trial.ts";
import { PROJECTS } from "./projects.ts";

const words = process.argv.slice(2).map((word) => word.toLowerCase());
const isChosen = ({ tool }: { readonly tool: string }) =>
  words.length === 0 || words.some((word) => tool.toLowerCase().includes(word));

let hasFailed = false;

/** @param expected the error message of a tool that cannot work */
function report(title: string, failure: string | undefined, expected?: string): void {
  const isExpected = expected === undefined ? failure === undefined : failure?.includes(expected);
  console.log(`${isExpected ? "ok" : "not ok"} ${title}`);
  if (!isExpected) console.error(failure ?? `works, but should fail with: ${expected}`);
  hasFailed ||= !isExpected;
}

/** An exception means that the trial could not start, for example because npm failed. */
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
  "docs/reference/tools.md",
  ["Tool", "Tried with", "Needs", "Result"],
  PROJECTS.map(({ tool }) => tool),
  rows,
);

if (!CAN_TRACE) console.log("skipped: rt traces scripts only on Linux");
const served = await serveCache();
const shared = [await startPublicServer(workshop), variablesFor(served)];
const cachedRows: string[][] = [];
for (const project of CACHED_PROJECTS.filter((each) => CAN_TRACE && isChosen(each))) {
  const { tool, row, notShared } = project;
  const { failure, version, results } = {
    results: [],
    ...(await tryCaching(project, workshop, shared).catch(failureOf)),
  };
  report(`${tool} ${version}: ${results.join(", ")}`, failure);
  const found = notShared === undefined ? "found" : `found in the same folder, because ${notShared}`;
  const needs = row.length === 0 ? "`cache = true`" : "its row below";
  cachedRows.push([tool, version, needs, failure === undefined ? found : "not found"]);
}
await writeRows(
  "docs/reference/cache.md",
  ["Tool", "Tried with", "Needs", "The same again"],
  CACHED_PROJECTS.map(({ tool }) => tool),
  cachedRows,
);

const permittedRows: string[][] = [];
// Permissions need what tracing needs.
for (const project of PERMITTED_PROJECTS.filter((each) => CAN_TRACE && isChosen(each))) {
  const { tool } = project;
  const trial: PermissionTrial = await tryPermissions(project, workshop).catch(failureOf);
  const { version, failure, learnedFailure, table = [] } = trial;
  report(`${tool} ${version} with the default permissions`, failure);
  report(`${tool} ${version} with its table: ${table.join(", ")}`, learnedFailure);
  permittedRows.push(permittedRow(tool, trial));
}
await writeRows(
  "docs/reference/tools.md",
  ["Tool with permissions", "Tried with", "By default", "Learned table"],
  PERMITTED_PROJECTS.map(({ tool }) => tool),
  permittedRows,
);
await served.end();
process.exit(hasFailed ? 1 : 0);
