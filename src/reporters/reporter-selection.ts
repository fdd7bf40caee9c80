// Selects the reporters of a run, depending on the request and the terminal. Rarely used reporters are loaded on
// demand.
import { host } from "../../platform/processes/process.ts";
import type { ChildRequest } from "../../platform/processes/contract/process-tree.ts";
import { wantsColor } from "../color.ts";
import type { Reporter } from "../tasks/task-events.ts";
import { chooseLimit } from "../tasks/execution/concurrency-limit.ts";
import type { TaskPlan } from "../tasks/planning/plan.ts";
import type { TaskRequest } from "../tasks/task.ts";
import type { OutputQueue } from "../tasks/output-queue.ts";
import { createPlainReporter } from "./terminal/plain-reporter.ts";
import { createPrefixReporter } from "./terminal/prefix-reporter.ts";
import { createSummaryReporter } from "./terminal/summary-reporter.ts";

const DEFAULT_ELIDED_LINES = 10;

export interface Reporting {
  readonly reporters: readonly Reporter[];
  readonly output: ChildRequest["output"];
  readonly extraEnvironment: Readonly<Record<string, string>>;
}

/** For a single script that runs without prefixes. A cached one has no terminal even if rt has one. */
export function chooseSingleReporter(request: TaskRequest, queue: OutputQueue): Reporting {
  const { env, silent, inheritsTerminal } = request;
  const useColor = wantsColor(
    (name) => env[name],
    () => host.isTerminal(2),
  );
  return {
    reporters: [createPlainReporter({ queue, useColor, silent })],
    output: inheritsTerminal ? "inherit" : "separate",
    extraEnvironment: inheritsTerminal ? {} : environmentOfCached(request),
  };
}

/** The environment additions of a cached script, the same for every reporter. */
export function environmentOfCached({ env }: Pick<TaskRequest, "env">): Readonly<Record<string, string>> {
  const isColored = wantsColor(
    (name) => env[name],
    () => host.isTerminal(1),
  );
  return colorsFor(isColored, env);
}

/** Makes a script write colours to a pipe. */
function colorsFor(useColor: boolean, env: TaskRequest["env"]): Readonly<Record<string, string>> {
  const isPassedOn = useColor && !env.NO_COLOR && env.FORCE_COLOR === undefined;
  return isPassedOn ? { FORCE_COLOR: "1" } : {};
}

type ReportKind = "page" | "trace" | "junit" | "json";

/** Derives the report format from the file extension. */
function reportKind(file: string): ReportKind {
  const name = file.toLowerCase();
  if (name.endsWith(".html") || name.endsWith(".htm")) return "page";
  if (name.endsWith("trace.json")) return "trace";
  return name.endsWith(".xml") ? "junit" : "json";
}

/** @throws UserError if the file cannot be written */
async function openReport(
  kind: ReportKind,
  path: string,
  plan: TaskPlan,
  request: TaskRequest,
  queue: OutputQueue,
): Promise<Reporter> {
  const file = (await import("./report-files/report-file.ts")).openReportFile(path, request.cwd, queue);
  if (kind === "page")
    return (await import("./page/run-page-reporter.ts")).createPageReporter(
      file,
      plan,
      request,
      chooseLimit(request),
    );
  if (kind === "trace")
    return (await import("./report-files/trace-reporter.ts")).createTraceReporter(file, plan, request);
  if (kind === "junit")
    return (await import("./report-files/junit-reporter.ts")).createJUnitReporter(file, request);
  return (await import("./report-files/json-reporter.ts")).createJsonReporter(file);
}

/** @param begun tasks that start at once; the live view announces the rest */
export async function chooseReporters(
  plan: TaskPlan,
  request: TaskRequest,
  queue: OutputQueue,
  fail: (error: unknown) => void,
  begun = plan.tasks,
): Promise<Reporting> {
  const { env } = request;
  const { tasks } = plan;
  const isTerminal = host.isTerminal(1);
  const useColor = wantsColor(
    (name) => env[name],
    () => isTerminal,
  );
  const isLabelled = request.parallel || request.sequential;
  const isGitHub = env.GITHUB_ACTIONS === "true";
  const isLive = isTerminal && !isLabelled && !isGitHub && !env.CI && env.TERM !== "dumb";
  const reports = request.reports.map((file) => ({ file, kind: reportKind(file) }));
  // Output that a script writes directly to the terminal cannot be reported.
  const isShown = reports.some(({ kind }) => kind === "page" || kind === "junit");
  // rt ends a process tree at its timeout only if it has started the tree itself.
  const hasTimeout = tasks.some(({ rule }) => rule?.timeout !== undefined);
  // A task with permissions and secrets has pipes, so that its output can be redacted.
  const isRedacted =
    request.secrets !== undefined && tasks.some((task) => request.permissions?.isRestricted(task));
  const isAlone =
    tasks.length === 1 &&
    isTerminal &&
    !isLabelled &&
    !request.elideLines &&
    !isShown &&
    !hasTimeout &&
    !isRedacted;

  const reporters: Reporter[] = [];
  if (isAlone)
    reporters.push(
      createPrefixReporter({ style: "script", tasks: [], queue, useColor, passCommands: false }),
    );
  else if (isGitHub && !isLabelled)
    reporters.push((await import("./terminal/github-reporter.ts")).createGitHubReporter(queue, fail));
  else if (isLive)
    reporters.push(
      (await import("./terminal/live-reporter.ts")).createLiveReporter({
        tasks: begun,
        queue,
        elideLines: request.elideLines ?? DEFAULT_ELIDED_LINES,
        useColor,
        silent: request.silent,
      }),
    );
  else
    reporters.push(
      createPrefixReporter({
        style: isLabelled ? "label" : "script",
        tasks,
        queue,
        useColor,
        passCommands: isGitHub,
      }),
    );
  if (!request.silent)
    reporters.push(
      createSummaryReporter(
        queue,
        wantsColor(
          (name) => env[name],
          () => host.isTerminal(2),
        ),
      ),
    );
  for (const { file, kind } of reports) reporters.push(await openReport(kind, file, plan, request, queue));

  const output = isAlone ? "inherit" : isLabelled ? "separate" : "merged";
  return { reporters, output, extraEnvironment: colorsFor(useColor && output !== "inherit", env) };
}
