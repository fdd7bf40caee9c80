// Selects the reporters of a run, depending on the request and the terminal. Rarely used reporters are loaded on
// demand.
import { host } from "../../platform/processes/process.ts";
import type { ChildRequest } from "../../platform/processes/contract/process-tree.ts";
import { wantsColor } from "../color.ts";
import type { Reporter } from "../tasks/task-events.ts";
import { chooseLimit } from "../tasks/execution/concurrency-limit.ts";
import type { TaskPlan } from "../tasks/planning/plan.ts";
import type { ScriptTask, TaskRequest } from "../tasks/task.ts";
import type { OutputQueue } from "../tasks/output-queue.ts";
import { wantsList } from "./list/list-default.ts";
import type { ListReporter } from "./list/list-contract.ts";
import { HeldReporter } from "./terminal/held-reporter.ts";
import { createPlainReporter } from "./terminal/plain-reporter.ts";
import { createPrefixReporter } from "./terminal/prefix-reporter.ts";
import { createSummaryReporter } from "./terminal/summary-reporter.ts";

const DEFAULT_ELIDED_LINES = 10;

export interface Reporting {
  readonly reporters: readonly Reporter[];
  readonly output: ChildRequest["output"];
  readonly extraEnvironment: Readonly<Record<string, string>>;
  /** Set if the list of tasks is shown. */
  readonly list?: ListReporter | undefined;
}

/** For a single script that runs without prefixes. A cached one has no terminal even if rt has one. */
export function chooseSingleReporter(request: TaskRequest, queue: OutputQueue): Reporting {
  const { env, silent, inheritsTerminal } = request;
  const useColor = isColored(env, 2);
  return {
    reporters: [createPlainReporter({ queue, useColor, silent })],
    output: inheritsTerminal ? "inherit" : "separate",
    extraEnvironment: inheritsTerminal ? {} : environmentOfCached(request),
  };
}

/** For the output of services while a watched run waits for changes. */
export function createBackgroundReporter(
  { tasks }: TaskPlan,
  { env, parallel, sequential }: TaskRequest,
  queue: OutputQueue,
): Reporter {
  const useColor = isColored(env, 1);
  const style = parallel || sequential ? "label" : "script";
  return createPrefixReporter({ style, tasks, queue, useColor, passCommands: false });
}

/** The environment additions of a cached script, the same for every reporter. */
export function environmentOfCached({ env }: Pick<TaskRequest, "env">): Readonly<Record<string, string>> {
  return colorsFor(isColored(env, 1), env);
}

function isColored(env: TaskRequest["env"], descriptor: 1 | 2): boolean {
  return wantsColor(
    (name) => env[name],
    () => host.isTerminal(descriptor),
  );
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
      chooseLimit(request, plan.tasks),
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
  const useColor = isColored(env, 1);
  const chosen = await chooseMain(plan, request, queue, fail, begun, useColor);
  const isInteractive = plan.tasks.some(({ rule }) => rule?.interactive);
  const reporters: Reporter[] = [isInteractive ? new HeldReporter(chosen.main) : chosen.main];
  if (!request.silent && request.output !== "json")
    reporters.push(createSummaryReporter(queue, isColored(env, 2)));
  for (const file of request.reports)
    reporters.push(await openReport(reportKind(file), file, plan, request, queue));
  const { output, list } = chosen;
  return { reporters, output, list, extraEnvironment: colorsFor(useColor && output !== "inherit", env) };
}

interface MainReporting extends Pick<Reporting, "output" | "list"> {
  readonly main: Reporter;
}

/** The reporter that shows output, and how it gets it. */
async function chooseMain(
  { tasks }: TaskPlan,
  request: TaskRequest,
  queue: OutputQueue,
  fail: (error: unknown) => void,
  begun: readonly ScriptTask[],
  useColor: boolean,
): Promise<MainReporting> {
  const { env, output: mode, logPrefix } = request;
  if (mode === "json") {
    const { createJsonLinesReporter } = await import("./terminal/json-lines-reporter.ts");
    return { main: createJsonLinesReporter(tasks, queue), output: "separate" };
  }
  const isLabelled = request.parallel || request.sequential;
  const isGitHub = env.GITHUB_ACTIONS === "true";
  const isBuffered = mode === "grouped" || mode === "errors";
  if (ownsTerminal(tasks, request)) {
    const main = createPrefixReporter({ style: "script", tasks: [], queue, useColor, passCommands: false });
    return { main, output: "inherit" };
  }
  if (isGitHub && !isLabelled && mode !== "stream" && logPrefix === undefined) {
    const { createGitHubReporter } = await import("./terminal/github-reporter.ts");
    const main = createGitHubReporter(queue, fail);
    return { main: mode === "errors" ? await grouped(main, "failed") : main, output: "merged" };
  }
  const isCapable = host.isTerminal(1) && !env.CI && env.TERM !== "dumb";
  if (isCapable && !isGitHub && host.isTerminal(0) && wantsList(tasks, request)) {
    const { openListReporter } = await import("./list/list-reporter.ts");
    const list = openListReporter({ tasks, queue, useColor, isLabelled });
    if (list) return { main: list, output: "terminal", list };
  }
  if (isCapable && !isLabelled && !isGitHub && mode === undefined && logPrefix === undefined) {
    const { createLiveReporter } = await import("./terminal/live-reporter.ts");
    const elideLines = request.elideLines ?? DEFAULT_ELIDED_LINES;
    const main = createLiveReporter({ tasks: begun, queue, elideLines, useColor, silent: request.silent });
    return { main, output: "merged" };
  }
  const main = createPrefixReporter({
    style: isLabelled ? "label" : "script",
    tasks,
    queue,
    useColor,
    passCommands: isGitHub,
    omitsPrefix: logPrefix === "none",
  });
  if (isBuffered)
    return { main: await grouped(main, mode === "errors" ? "failed" : "all"), output: "merged" };
  return { main, output: isLabelled ? "separate" : "merged" };
}

async function grouped(inner: Reporter, shown: "all" | "failed"): Promise<Reporter> {
  return (await import("./terminal/grouped-reporter.ts")).createGroupedReporter(inner, shown);
}

/** Whether a single script inherits the terminal. */
function ownsTerminal(tasks: readonly ScriptTask[], request: TaskRequest): boolean {
  const { elideLines, output, logPrefix, parallel, reports, sequential } = request;
  if (tasks.length !== 1 || !host.isTerminal(1) || parallel || sequential || elideLines) return false;
  if (output === "errors" || logPrefix === "task") return false;
  // Output that a script writes directly to the terminal cannot be reported.
  if (reports.some((file) => ["page", "junit"].includes(reportKind(file)))) return false;
  // A task with permissions and secrets has pipes, so that its output can be redacted.
  if (request.secrets !== undefined && request.permissions?.isRestricted(tasks[0]!)) return false;
  // rt ends a process tree at its timeout only if it has started the tree itself.
  return tasks[0]!.rule?.timeout === undefined;
}
