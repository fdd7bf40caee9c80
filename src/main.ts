// argv -> command -> exit code: the whole program in one reading, and the only place that ends the process.
//
// What starting a plain file or script does not need is imported where it is used; each of those imports is a
// chunk of its own in the compiled file and costs nothing until then.
import { COMMANDS } from "./cli/commands.ts";
import { hasOption, type Invocation, lastValue, parseCommandLine, UsageError } from "./cli/parse.ts";
import { planRun, planTool, type Plan } from "./run/plan.ts";
import { resolveTarget } from "./run/resolve.ts";
import type { Target } from "./run/target.ts";
import { VERSION } from "./version.ts";

/** The user's program, to be started when nothing of ours can be mistaken for a failure of its own. */
type Program = () => Promise<void>;

async function main(words: readonly string[]): Promise<Program | void> {
  if (standsInForNode()) return await runAsNode(words);
  const invocation = parseCommandLine(words);
  const { command } = invocation;
  if (hasOption(invocation, "version")) return console.log(VERSION);
  if (hasOption(invocation, "help") || (words.length === 0 && command === undefined))
    return await showHelp(command);
  if (command !== undefined && COMMANDS[command]!.by === "rt")
    return await runCommand(command, invocation.args);
  if (command !== undefined && COMMANDS[command]!.by === "engine") return await runTool(invocation);
  return await run(invocation);
}

/** A link called `node`: see run/stand-in.ts. */
function standsInForNode(): boolean {
  return /(?:^|[\\/])node(?:\.exe)?$/.test(process.argv0);
}

async function runAsNode(words: readonly string[]): Promise<void> {
  if (words[0] === "--version" || words[0] === "-v") return console.log(process.version);
  const { becomeEngine, engineArguments } = await import("./run/engine.ts");
  becomeEngine(engineArguments(words, true), "node");
}

async function showHelp(topic?: string): Promise<void> {
  const { renderHelp } = await import("./cli/help.ts");
  console.log(await renderHelp(topic));
}

async function runCommand(command: string, args: readonly string[]): Promise<void> {
  if (command === "help") return await showHelp(args[0]);
  if (command === "types") return console.log((await import("./cli/types.ts")).TYPES);
  const { runSecretsCommand } = await import("./secrets/command.ts");
  process.exit(await runSecretsCommand([...args]));
}

/** Tools in which code of the user's runs, and so sees `rt`. */
const RUNS_CODE = new Set(["test", "repl"]);

async function runTool(invocation: Invocation): Promise<void> {
  const { hintAtShadowedScript } = await import("./cli/shadowed.ts");
  hintAtShadowedScript(invocation.command!, process.cwd());
  const plan = planTool(invocation) as Extract<Plan, { mode: "engine" }>;
  await carryOut(plan, invocation, RUNS_CODE.has(invocation.command!));
}

async function run(invocation: Invocation): Promise<Program | void> {
  const cwd = changeDirectory(invocation);
  const evaluates =
    hasOption(invocation, "eval") || hasOption(invocation, "print") || hasOption(invocation, "interactive");
  if (!evaluates && invocation.target === undefined) {
    if (invocation.command !== "run")
      throw new UsageError("Nothing to run", "name a file or a script after the options");
    const { listScripts } = await import("./cli/list.ts");
    return console.log(listScripts(cwd));
  }
  const target: Target = evaluates
    ? { kind: "none" }
    : resolveTarget({
        name: invocation.target!,
        cwd,
        explicitRun: invocation.command === "run",
        forceRuntime: hasOption(invocation, "rt"),
      });
  const reason =
    target.kind === "file" ? (await import("./run/entry.ts")).engineReason(target.path, cwd) : undefined;
  return await carryOut(planRun(invocation, target, { engineReason: reason }), invocation, true);
}

function changeDirectory(invocation: Invocation): string {
  const directory = lastValue(invocation, "cwd");
  if (directory === undefined) return process.cwd();
  try {
    process.chdir(directory);
  } catch {
    throw new UsageError(`Cannot work in "${directory}"`, "--cwd needs a directory that exists");
  }
  return process.cwd();
}

async function carryOut(plan: Plan, invocation: Invocation, runsCode: boolean): Promise<Program | void> {
  if (process.env.RT_DEBUG === "plan") console.error(JSON.stringify(plan));
  switch (plan.mode) {
    case "nothing":
      return;
    case "in-process": {
      const { installRuntime } = await import("./runtime/install.ts");
      const { runFile } = await import("./run/in-process.ts");
      installRuntime(`${import.meta.dir}/runtime/worker.js`);
      return () => runFile(plan.file, plan.args, plan.preloads);
    }
    case "engine": {
      const { launchEngine } = await import("./run/launch.ts");
      return launchEngine(plan, runsCode);
    }
    case "refuse": {
      const hint =
        plan.hint ??
        (plan.notFound && (await import("./cli/suggest.ts")).suggestTarget(plan.notFound, process.cwd()));
      return fail(plan.message, hint || undefined);
    }
    case "program":
    case "script": {
      const { launchProgram, launchScript } = await import("./run/launch.ts");
      const settings = {
        silent: hasOption(invocation, "silent"),
        shell: lastValue(invocation, "shell") === "rt" ? ("rt" as const) : ("system" as const),
        forceRuntime: hasOption(invocation, "rt"),
        version: VERSION,
      };
      if (plan.mode === "program") return launchProgram(plan, settings);
      return end(await launchScript(plan, settings));
    }
  }
}

function fail(message: string, hint?: string, status = 1): never {
  console.error(`error: ${message}`);
  if (hint) console.error(`hint: ${hint}`);
  process.exit(status);
}

function end(ending: number | { readonly signal: NodeJS.Signals }): void {
  if (typeof ending === "number") process.exit(ending);
  // Dying of the same signal tells the caller more than a number could.
  process.kill(process.pid, ending.signal);
}

async function explain(error: unknown): Promise<never> {
  if (error instanceof UsageError) {
    const { suggestName } = await import("./cli/suggest.ts");
    const nearest = error.unknown && suggestName(error.unknown.word, error.unknown.known);
    fail(error.message, nearest ? `did you mean ${nearest}?` : error.hint);
  }
  const { name, message, hint, status } = error as Error & { hint?: string; status?: number };
  if (EXPECTED.has(name)) fail(message, hint, status);
  throw error;
}

/** Failures that are the user's to mend: a line, not a stack trace. */
const EXPECTED = new Set(["RunFailure", "PackageJsonError"]);

const program = await main(process.argv.slice(2)).catch(explain);
await program?.();
