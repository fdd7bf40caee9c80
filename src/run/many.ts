// Many scripts, or the scripts of many packages: turns a command line into a request to src/tasks, and supplies
// what that folder must not know, which is how a script is started.
import { host } from "../../platform/process.ts";
import { allValues, hasOption, type Invocation, lastValue } from "../cli/parse.ts";
import {
  type Command,
  type CommandRequest,
  runTasks,
  type Task,
  type TaskRequest,
} from "../tasks/run-tasks.ts";
import { scriptOf } from "../workspace/package-json.ts";
import type { Answer } from "./answer.ts";
import { evaluate, needsNoProcess, type ShellResult } from "./built-in-shell.ts";
import { type Ending, launchScript } from "./launch.ts";
import { appendArguments, quoteArgument } from "./quote.ts";
import { Failure } from "../failure.ts";
import { openSteps, prepareStep, type RunSettings, type StepContext } from "./step.ts";

export async function runMany(invocation: Invocation, cwd: string, settings: RunSettings): Promise<Ending> {
  const given = (name: string) => hasOption(invocation, name);
  if (given("parallel") && given("sequential")) {
    throw new Failure("--parallel and --sequential exclude each other", "give one of them");
  }
  const { scripts, args } = splitWords(invocation);
  const originalEnvironment = host.originalEnvironment();
  const steps = openSteps(settings);
  const request: TaskRequest = {
    scripts,
    args,
    cwd,
    env: originalEnvironment,
    filters: allValues(invocation, "filter"),
    workspaces: given("workspaces"),
    affected: given("affected") ? (lastValue(invocation, "affected") ?? "") : undefined,
    parallel: given("parallel"),
    sequential: given("sequential"),
    noExitOnError: given("no-exit-on-error"),
    concurrency: concurrencyOf(invocation),
    elideLines: countOf(lastValue(invocation, "elide-lines")),
    silent: settings.silent,
    ifPresent: given("if-present"),
    dryRun: given("dry-run") ? (lastValue(invocation, "dry-run") === "json" ? "json" : "text") : undefined,
    report: lastValue(invocation, "report"),
    commandFor: (wanted) => commandFor(wanted, originalEnvironment, steps),
    quote: quoteArgument,
    runAlone: (task) => runAlone(task, settings),
  };
  return await runTasks(request);
}

/** With --parallel or --sequential every word is a script, up to `--`; otherwise only the first. */
function splitWords(invocation: Invocation): { scripts: string[]; args: readonly string[] } {
  if (invocation.target === undefined) return { scripts: [], args: [] };
  const words = [invocation.target, ...invocation.args];
  const takesMany = hasOption(invocation, "parallel") || hasOption(invocation, "sequential");
  const end = takesMany ? words.indexOf("--") : 1;
  const scripts = end < 0 ? words : words.slice(0, end);
  const rest = end < 0 ? [] : words.slice(end);
  return { scripts, args: host.exactArguments(rest[0] === "--" ? rest.slice(1) : rest) };
}

/**
 * The option wins over the environment, which is this machine's, and that over rtfig.toml, which is everybody's. With
 * --parallel the option alone counts: servers never end, so that one which waits for its turn would never start.
 */
function concurrencyOf(invocation: Invocation): number | undefined {
  const given = invocation.options.findLast(({ option }) => option.name === "concurrency");
  const isOnLine = given !== undefined && !given.isConfigured;
  const inherited = isOnLine ? undefined : process.env.RT_CONCURRENCY;
  const value = inherited ?? given?.value;
  const count = countOf(value);
  if (value === undefined || (count ?? 0) > 0)
    return hasOption(invocation, "parallel") && !isOnLine ? undefined : count;
  const name = inherited === undefined ? "--concurrency" : "RT_CONCURRENCY";
  throw new Failure(`${name} needs a whole number from 1 up, not "${value}"`, "leave it out for the default");
}

function countOf(value: string | undefined): number | undefined {
  const count = Number(value);
  return value === undefined || !Number.isSafeInteger(count) || count < 0 ? undefined : count;
}

function commandFor(
  { packageDirectory: directory, manifest, scriptName, args, isCollected }: CommandRequest,
  originalEnvironment: Readonly<Record<string, string>>,
  steps: StepContext,
): Command {
  const line = appendArguments(scriptOf(manifest, scriptName) ?? "", args);
  if (isCollected && steps.settings.shell === "rt" && needsNoProcess(line, originalEnvironment)) {
    return { argv: [], cwd: directory, env: {}, evaluate: () => evaluate(line, directory) };
  }
  const answer = isCollected ? steps.shell.answer(line) : undefined;
  if (answer) return { argv: [], cwd: directory, env: {}, evaluate: () => collect(answer) };
  const { shell, environment } = prepareStep(steps, { directory, manifest }, scriptName, line);
  // rt's own `exec` command changes into the engine's shell without a trace in the child's environment.
  return {
    program: shell.program,
    argv: shell.argv,
    cwd: directory,
    env: { ...originalEnvironment, ...environment, ...shell.environment },
  };
}

async function collect({ code, output }: Answer): Promise<ShellResult> {
  return { code, stdout: new TextEncoder().encode(output) };
}

async function runAlone(
  { packageDirectory, manifest, scriptName, args }: Task,
  settings: RunSettings,
): Promise<Ending> {
  const target = {
    kind: "script",
    name: scriptName,
    package: { directory: packageDirectory, manifest },
  } as const;
  return await launchScript({ mode: "script", target, args }, settings);
}
