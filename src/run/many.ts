// Many scripts, or the scripts of many packages: asks src/tasks for what the settings say, and supplies what that folder
// must not know, which is how a script is started.
import { host } from "../../platform/process.ts";
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
import { openRun, prepareStep, type RunContext } from "./script/preparation.ts";
import { variablesOf } from "./script/secret-variables.ts";
import { openSecrets, receiverOf } from "./secrets.ts";

export async function runMany(settings: Settings, config: Config | undefined, cwd: string): Promise<Ending> {
  const { script } = settings;
  const many = settings.many!;
  const originalEnvironment = host.originalEnvironment();
  const context = openRun(script);
  const provision = await openSecrets({ settings, config, directory: cwd });
  const request: TaskRequest = {
    ...many,
    args: host.exactArguments(many.args),
    cwd,
    env: originalEnvironment,
    silent: script.silent,
    commandFor: (wanted) => commandFor(wanted, originalEnvironment, context, provision),
    quote: quoteArgument,
    runAlone: (task) => runAlone(task, script, provision),
    ...(provision && {
      secretsOf: (manifest, event, isMain) => provision.shown(receiverOf({ manifest }, event, !isMain)),
      prepare: async (tasks) => await provision.fetch(tasks.flatMap(receiversIn)),
    }),
  };
  try {
    return await runTasks(request);
  } finally {
    provision?.zero();
  }
}

function receiversIn({ manifest, steps }: Task): Receiver[] {
  return steps.map(({ scriptName, isMain }) => receiverOf({ manifest }, scriptName, !isMain));
}

function commandFor(
  { packageDirectory: directory, manifest, scriptName, args, isMain, isCollected }: CommandRequest,
  originalEnvironment: Readonly<Record<string, string>>,
  context: RunContext,
  provision: Provision | undefined,
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
  // rt's own `exec` command changes into the engine's shell without a trace in the child's environment.
  return {
    program: shell.program,
    argv: shell.argv,
    cwd: directory,
    env: { ...originalEnvironment, ...environment, ...shell.environment, ...variablesOf(secrets) },
    ...(secrets.length > 0 && { secrets }),
  };
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
