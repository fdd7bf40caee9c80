// Many scripts, or the scripts of many packages: asks src/tasks for what the settings say, and supplies what that folder
// must not know, which is how a script is started.
import { host } from "../../platform/process.ts";
import type { ChildExit } from "../../platform/contract/process-tree.ts";
import type { SecretValue } from "../redaction/secret-value.ts";
import type { Deliver, RedactedOutput } from "../redaction/stream.ts";
import type { Provision, Receiver } from "../secrets/mapping/provision.ts";
import type { Config } from "../config/rtfig.ts";
import type { ScriptSettings } from "../settings/script.ts";
import type { Settings } from "../settings/settings.ts";
import {
  type Command,
  type CommandRequest,
  runTasks,
  type Task,
  type TaskRequest,
} from "../tasks/run-tasks.ts";
import { scriptOf } from "../workspace/package-json.ts";
import type { Answer } from "./script/bash-builtins.ts";
import { evaluate, needsNoProcess, type ShellResult } from "./script/built-in-shell.ts";
import { type Ending, launchScript } from "./script/launch.ts";
import { appendArguments, quoteArgument } from "./script/quoting.ts";
import type { ShellCommand } from "./script/shell.ts";
import { openRun, prepareStep, type RunContext } from "./script/preparation.ts";
import { variablesOf } from "./script/secret-variables.ts";
import { openSecrets, receiverOf } from "./secrets.ts";

export async function runMany(settings: Settings, config: Config | undefined, cwd: string): Promise<Ending> {
  const { script } = settings;
  const many = settings.many!;
  const originalEnvironment = host.originalEnvironment();
  const context = openRun(script);
  const provision = await openSecrets({ settings, config, directory: cwd });
  let attending: Attending | undefined;
  const request: TaskRequest = {
    ...many,
    args: host.exactArguments(many.args),
    cwd,
    env: originalEnvironment,
    silent: script.silent,
    commandFor: (wanted) => commandFor(wanted, originalEnvironment, context, provision, attending),
    quote: quoteArgument,
    runAlone: (task) => runAlone(task, script, provision),
    ...(provision && {
      secretsOf: (manifest, event, isMain) => provision.shown(receiverOf({ manifest }, event, !isMain)),
      async prepare(tasks) {
        const receivers = tasks.flatMap(receiversIn);
        await provision.fetch(receivers);
        const values = receivers.flatMap((receiver) => provision.valuesFor(receiver));
        const secrets = [...new Map(values.map((each) => [each.name, each])).values()];
        if (secrets.some(({ isRedacted }) => isRedacted)) attending = await loadAttending(secrets);
      },
    }),
  };
  try {
    return await runTasks(request);
  } finally {
    provision?.zero();
  }
}

/** Loaded before anything starts, since what starts does so at once. */
interface Attending {
  readonly redact: (deliver: Deliver) => RedactedOutput;
  /** Undefined where nothing is to be kept out. */
  attend(
    command: ShellCommand,
    secrets: readonly SecretValue[],
    directory: string,
  ): (() => Promise<ChildExit>) | undefined;
}

/** @param secrets of all scripts of the run. Throws Failure where a value cannot be kept out of what is shown. */
async function loadAttending(secrets: readonly SecretValue[]): Promise<Attending> {
  const [{ attend, planAttendance }, { openOutput, refuseShort }] = await Promise.all([
    import("./script/attended.ts"),
    import("../redaction/stream.ts"),
  ]);
  refuseShort(secrets);
  return {
    redact: (deliver) => openOutput(secrets, deliver),
    attend(command, secrets, directory) {
      const way = planAttendance(secrets);
      if (way.way === "become") return undefined;
      return async () => {
        process.chdir(directory); // a run that gives its only script the terminal has no other
        const ending = await attend(command, way, secrets, "end");
        if (typeof ending === "string") throw Object.assign(new Error(ending), { code: ending });
        if (typeof ending === "number") return { code: ending, signal: null };
        return { code: 1, signal: ending.signal };
      };
    },
  };
}

function receiversIn({ manifest, steps }: Task): Receiver[] {
  return steps.map(({ scriptName, isMain }) => receiverOf({ manifest }, scriptName, !isMain));
}

function commandFor(
  { packageDirectory: directory, manifest, scriptName, args, isMain, isCollected }: CommandRequest,
  originalEnvironment: Readonly<Record<string, string>>,
  context: RunContext,
  provision: Provision | undefined,
  attending: Attending | undefined,
): Command {
  const line = appendArguments(scriptOf(manifest, scriptName) ?? "", args);
  const secrets = provision?.valuesFor(receiverOf({ manifest }, scriptName, !isMain)) ?? [];
  const mayEvaluate = isCollected && secrets.length === 0;
  if (mayEvaluate && context.settings.shell === "rt" && needsNoProcess(line, originalEnvironment)) {
    return { argv: [], cwd: directory, env: {}, evaluate: () => evaluate(line, directory) };
  }
  const answer = mayEvaluate ? context.shell.answer(line) : undefined;
  if (answer) return { argv: [], cwd: directory, env: {}, evaluate: () => collect(answer) };
  const { shell, environment } = prepareStep(context, { directory, manifest }, scriptName, line);
  const variables = { ...environment, ...shell.environment, ...variablesOf(secrets) };
  const command = {
    program: shell.program,
    argv: shell.argv,
    cwd: directory,
    // rt's own `exec` command changes into the engine's shell without a trace in the child's environment.
    env: { ...originalEnvironment, ...variables },
  };
  if (!attending) return command;
  // Those of the others too: what one has from the environment, or from a file of another's, it may show as well.
  if (isCollected) return { ...command, redact: attending.redact };
  if (secrets.length === 0) return command;
  const start = { ...shell, environment: variables };
  return { ...command, attend: attending.attend(start, secrets, directory) };
}

async function collect({ code, output }: Answer): Promise<ShellResult> {
  return { code, stdout: new TextEncoder().encode(output) };
}

async function runAlone(
  { packageDirectory, manifest, scriptName, args }: Task,
  settings: ScriptSettings,
  provision: Provision | undefined,
): Promise<Ending> {
  const target = {
    kind: "script",
    name: scriptName,
    package: { directory: packageDirectory, manifest },
  } as const;
  return await launchScript({ mode: "script", target, args }, settings, (event) =>
    provision ? provision.valuesFor(receiverOf({ manifest }, event, event !== scriptName)) : [],
  );
}
