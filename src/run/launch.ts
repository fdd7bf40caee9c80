// Carries out a plan: the effects of the runner, each in a function of its own.
//
// Contract (specification, "Script execution"): a failing pre-hook ends the run; the post-hook runs after the
// script succeeded. What stands last replaces rt, so that its exit code and signals are the user's without
// anything in between; what stands before it is waited for.
import { host } from "../../platform/process.ts";
import { scriptOf } from "../workspace/package-json.ts";
import { findRecursion, scriptEnvironment } from "./environment.ts";
import type { Plan } from "./plan.ts";
import { appendArguments } from "./quote.ts";
import { type ShellChoice, type ShellCommand, shellCommand } from "./shell.ts";
import { standInDirectories } from "./stand-in.ts";

export interface RunSettings {
  readonly silent: boolean;
  readonly shell: ShellChoice;
  /** `node` means rt. */
  readonly forceRuntime: boolean;
  readonly version: string;
}

/** A failure to say on stderr, with exit code 1. */
export class RunFailure extends Error {
  override readonly name = "RunFailure";
  readonly hint: string | undefined;
  readonly status: number;

  constructor(message: string, hint?: string, status = 1) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

/** How a child ended, to be passed on by main: an exit code or a signal to die of. */
export type Ending = number | { readonly signal: NodeJS.Signals };

export function launchProgram(
  { path, name, args }: Extract<Plan, { mode: "program" }>,
  settings: RunSettings,
): never {
  const stands = standInDirectories(settings.forceRuntime, process.env.PATH ?? "", name);
  const PATH = [...stands, process.env.PATH ?? ""].join(host.pathSeparator);
  const environment = stands.length > 0 ? { PATH } : {};
  const code = host.replace({ program: path, argv: [name, ...args], environment });
  throw new RunFailure(
    `Cannot run "${path}": ${explainExec(code)}`,
    undefined,
    code === "ENOENT" ? 127 : 126,
  );
}

function explainExec(code: string): string {
  if (code === "ENOEXEC") return "it is neither a program nor a script with a #! line";
  if (code === "EACCES") return "permission denied";
  if (code === "E2BIG") return "the arguments are too long for this system";
  return code;
}

interface Step {
  readonly event: string;
  /** As the user sees it, and as the shell reads it. */
  readonly command: string;
  readonly shell: ShellCommand;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export async function launchScript(
  plan: Extract<Plan, { mode: "script" }>,
  settings: RunSettings,
): Promise<Ending> {
  const { target, args } = plan;
  const { directory, manifest } = target.package;
  const steps: Step[] = [];
  for (const event of [`pre${target.name}`, target.name, `post${target.name}`]) {
    const command = scriptOf(manifest, event);
    if (command === null) continue;
    steps.push(
      prepareStep(plan, event, event === target.name ? appendArguments(command, args) : command, settings),
    );
  }
  process.chdir(directory);
  const last = steps.pop()!;
  for (const step of steps) {
    echo(step.command, settings);
    const { waitForStep } = await import("./wait.ts");
    const ending = await waitForStep(step.shell, step.environment);
    if (ending === 0) continue;
    reportEnding(step.event, ending, settings);
    return ending;
  }
  echo(last.command, settings);
  const code = host.replace({
    ...last.shell,
    environment: { ...last.environment, ...last.shell.environment },
  });
  throw new RunFailure(`Cannot run the script "${target.name}": ${explainExec(code)}`);
}

function prepareStep(
  { target }: Extract<Plan, { mode: "script" }>,
  event: string,
  command: string,
  { shell: choice, forceRuntime, version }: RunSettings,
): Step {
  const { directory } = target.package;
  const running = process.env.RT_SCRIPTS ?? "";
  const cycle = findRecursion(running, directory, event);
  if (cycle) throw new RunFailure(`The script "${event}" calls itself without end: ${cycle.join(" -> ")}`);
  const inheritedPath = process.env.PATH ?? "";
  const stands = standInDirectories(forceRuntime, inheritedPath, command);
  const environment = scriptEnvironment({
    package: target.package,
    event,
    command: scriptOf(target.package.manifest, event) ?? command,
    initialDirectory: process.cwd(),
    path: inheritedPath,
    pathSeparator: host.pathSeparator,
    stands,
    runtime: { path: process.execPath, userAgent: userAgent(version) },
    nodePath:
      Bun.which("node", { PATH: [...stands, inheritedPath].join(host.pathSeparator) }) ?? process.execPath,
    running,
  });
  const shell = shellCommand(command, {
    choice,
    path: environment.PATH!,
    directory,
    inherited: process.env,
    runtimePath: process.execPath,
  });
  if (!shell)
    throw new RunFailure("No shell was found to run the script in", "install bash or sh, or use --shell rt");
  return { event, command, shell, environment };
}

function userAgent(version: string): string {
  return `rt/${version} npm/? node/${process.version} ${process.platform} ${process.arch}`;
}

/** `console.error`, because making `process.stderr` takes longer than everything else here together. */
function echo(command: string, { silent }: RunSettings): void {
  if (silent) return;
  const isColoured = Bun.enableANSIColors && host.isTerminal(2);
  console.error(isColoured ? `\x1b[0;35m$\x1b[0m \x1b[2m\x1b[1m${command}\x1b[0m` : `$ ${command}`);
}

function reportEnding(event: string, ending: Ending, { silent }: RunSettings): void {
  if (silent) return;
  if (typeof ending === "number") console.error(`error: script "${event}" exited with code ${ending}`);
  else if (ending.signal !== "SIGINT")
    console.error(`error: script "${event}" was terminated by signal ${ending.signal}`);
}
