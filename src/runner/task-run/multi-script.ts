// Many scripts, or the scripts of many packages: asks src/reporters for what the settings say, and supplies what that folder
// must not know, which is how a script is started.
import { startLookupRecorder } from "../../../platform/files/lookup-recorder.ts";
import { host } from "../../../platform/processes/process.ts";
import type { RemoteCache } from "../../cache/remote/remote-cache.ts";
import type { SecretValue } from "../../redaction/secret-value.ts";
import type { SecretProvision, Receiver } from "../../secrets/grants/secret-provisioning.ts";
import type { Config } from "../../config/rtfig.ts";
import { describeStrayRules } from "../../config/unmatched-rules.ts";
import type { CacheSettings } from "../../config/settings/cache.ts";
import { choosesPackages, type ManySettings } from "../../config/settings/many.ts";
import type { RemoteSettings } from "../../config/settings/remote.ts";
import { ruleNamed } from "../../config/settings/script-rules.ts";
import type { RunSettings } from "../../config/settings/settings.ts";
import { runSingle, runTasks } from "./run-tasks.ts";
import {
  type SpawnCommand,
  type CommandRequest,
  type ScriptTask,
  type TaskRequest,
} from "../../tasks/task.ts";
import { choosePlacement, type RemoteEligibility } from "../../tasks/execution/placement.ts";
import { planTasks } from "../../tasks/planning/plan.ts";
import { scriptOf, textField } from "../../workspace/package-json.ts";
import { type RunRedaction, isSameValue, createRunRedaction } from "./run-redaction.ts";
import type { ExecutionPlan } from "../plan.ts";
import type { StepFactory } from "./cached-task.ts";
import type { BuiltinResult } from "../script/bash-builtins.ts";
import { evaluate, needsNoProcess, type ShellResult } from "../script/built-in-shell.ts";
import { launchScript, type Supply } from "../script/launch.ts";
import { taskOf } from "../single-task.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import { appendArguments, quoteArgument } from "../../shell-quoting.ts";
import { openRun, prepareStep, type RunContext } from "../script/step-preparation.ts";
import { markWithheld, removeVariables, variablesOf, withoutVariables } from "../script/secret-variables.ts";
import { rulesOf } from "./script-rules.ts";
import { openSecrets, receiverOf, supplyOf } from "./secrets.ts";

/** Its secrets are zeroed when it is disposed of. */
export interface ManyRequest extends Disposable {
  readonly tasks: TaskRequest;
  readonly provision: SecretProvision | undefined;
  /** What rt was started with, where there are secrets: nothing else is for a program that takes its place. */
  readonly descriptors: readonly number[] | undefined;
}

export async function runMany(
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
): Promise<ExitStatus> {
  const recall =
    settings.cache && choosesPackages(settings.many!)
      ? await (
          await import("./memoized-run.ts")
        ).openRunMemo(settings, cwd, { planTasks, runTasks, watchGlances: startLookupRecorder })
      : undefined;
  using request = await openMany(settings, config, cwd);
  const { tasks, provision, descriptors } = request;
  const wanted: TaskRequest = {
    ...tasks,
    runAlone: (task) => runAlone(task, tasks, settings, { provision, descriptors }),
  };
  return recall && !provision ? await recall.run(wanted) : await runTasks(wanted);
}

/** A script that is cached, as if it stood alone at the terminal. */
export async function runCached(
  task: ScriptTask,
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  provision: SecretProvision | undefined,
): Promise<ExitStatus> {
  return await runSingle(task, requestFor(manyOfOne(task.scriptName), settings, config, cwd, provision));
}

/** A script that goes to another machine, likewise; "here" for one that does not. */
export async function runRemotely(
  plan: Extract<ExecutionPlan, { mode: "script" }>,
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  provision: SecretProvision | undefined,
): Promise<ExitStatus | "here"> {
  const task = taskOf(plan);
  const request = requestFor(manyOfOne(task.scriptName), settings, config, cwd, provision);
  return choosePlacement(request.eligibilityOf!(task)).place === "remote"
    ? await runSingle(task, request)
    : "here";
}

/** What a run of many is asked for, when it is a run of one. */
export function manyOfOne(script: string, args: readonly string[] = []): ManySettings {
  return {
    scripts: [script],
    args,
    filters: [],
    workspaces: false,
    parallel: false,
    sequential: false,
    noExitOnError: false,
    ifPresent: false,
    reports: [],
  };
}

/** Throws Failure, PackageJsonError. */
export async function openMany(
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
): Promise<ManyRequest> {
  const provision = await openSecrets({ settings, config, directory: cwd });
  // Before the connection to the store is one of them.
  const descriptors = provision && host.inheritedDescriptors();
  const tasks = requestFor(settings.many!, settings, config, cwd, provision);
  return { tasks, provision, descriptors, [Symbol.dispose]: () => provision?.zero() };
}

function requestFor(
  many: ManySettings,
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  provision: SecretProvision | undefined,
): TaskRequest {
  const { script, cache, remote } = settings;
  const originalEnvironment = host.originalEnvironment();
  const context = openRun(script);
  let attending: RunRedaction | undefined;
  let shared: RemoteCache | undefined;
  let hasStarted = false;
  let room: typeof import("./cached-task.ts") | undefined;
  /**
   * All values to redact: those of the environment, and those that were fetched. A watched run also keeps those that were
   * replaced since, for scripts that still run with them.
   */
  const known: SecretValue[] = [...(provision?.inherited ?? [])];
  const commandOf = (wanted: CommandRequest) =>
    commandFor(wanted, originalEnvironment, context, provision, attending);
  const starting: StepFactory = {
    commandFor: commandOf,
    get named() {
      return context.named;
    },
  };
  return {
    ...many,
    args: host.exactArguments(many.args),
    cwd,
    env: originalEnvironment,
    silent: script.silent,
    commandFor: commandOf,
    quote: quoteArgument,
    adviseOn: (workspace) => describeStrayRules(rulesOf(settings, config, cwd, provision), workspace),
    ...(cache && {
      async openCached(task, extra) {
        room ??= await import("./cached-task.ts");
        if (hasStarted) room.invalidateStatCache();
        return await room.openCachedTask(task, extra, cache, starting, shared);
      },
      beforeStart() {
        hasStarted = true;
        room?.invalidateStatCache();
      },
      closeCache: () => room?.saveFileHashes(),
      // Where something may run elsewhere, what is found here does not.
      ...((cache.isExplained || many.dryRun) && {
        async explainCached(task, extra) {
          room ??= await import("./cached-task.ts");
          return await room.explainTask(task, extra, cache, starting, shared);
        },
      }),
    }),
    ...(cache?.remote &&
      (many.dryRun === undefined || cache.asksWhenDry) && {
        async openBackgroundWork(tasks, tell) {
          const { openRemoteCache } = await import("./remote-cache.ts");
          shared = await openRemoteCache(cache, tasks, config, cwd, many.share !== undefined);
          shared?.listen(tell);
          return shared;
        },
      }),
    ...(remote && {
      eligibilityOf: (task) => eligibilityOf(task, remote, cache),
      async openRemote(tasks, plan) {
        const { authorizeRemote } = await import("./remote-consent.ts");
        const allowed = await authorizeRemote(remote, config, cwd);
        return (await import("../../remote-execution/remote-run.ts")).openRemote(
          tasks,
          plan,
          allowed,
          script,
        );
      },
      async previewRemote(tasks, plan) {
        const { withoutSecrets } = await import("./remote-consent.ts");
        const allowed = withoutSecrets(remote, config, cwd, false);
        return (await import("../../remote-execution/remote-run.ts")).previewRemote(
          tasks,
          plan,
          allowed,
          script,
        );
      },
    }),
    ...(many.share && {
      openCoordinator: async (plan) =>
        await (await import("./share.ts")).openCoordinator(many.share!, plan, config, cwd),
      whyUnshared: async (task) => await (await import("./share.ts")).whyUnshared(task, cache),
    }),
    ...(provision && {
      secretsOf: (manifest, event, isMain) => provision.shown(receiverOf({ manifest }, event, !isMain)),
      redaction: () => attending?.redact,
      async prepare(tasks) {
        const receivers = tasks.flatMap(receiversIn);
        await provision.fetch(receivers);
        for (const value of receivers.flatMap((receiver) => provision.valuesFor(receiver)))
          if (!known.some((other) => isSameValue(other, value))) known.push(value);
        if (attending) attending.learn(known);
        else if (known.some(({ isRedacted }) => isRedacted)) attending = await createRunRedaction(known);
      },
    }),
  };
}

/** What speaks for another machine. */
function eligibilityOf(
  { manifest, scriptName, steps }: ScriptTask,
  { url, scripts, isAsked }: RemoteSettings,
  cache: CacheSettings | undefined,
): RemoteEligibility {
  const packageName = textField(manifest, "name");
  const hasSecrets = steps.some(({ secrets }) => secrets !== undefined);
  return {
    server: url,
    isAsked,
    isDeclared: ruleNamed(scripts, packageName, scriptName)?.isRemote,
    isCached: ruleNamed(cache?.rules ?? [], packageName, scriptName)?.isOn ?? false,
    obstacle: hasSecrets ? "it is given secrets, which do not leave this machine" : undefined,
  };
}

function receiversIn({ manifest, steps }: ScriptTask): Receiver[] {
  return steps.map(({ scriptName, isMain }) => receiverOf({ manifest }, scriptName, !isMain));
}

function commandFor(
  { packageDirectory: directory, manifest, scriptName, args, isMain, isCollected, isKept }: CommandRequest,
  originalEnvironment: Readonly<Record<string, string>>,
  context: RunContext,
  provision: SecretProvision | undefined,
  attending: RunRedaction | undefined,
): SpawnCommand {
  const line = appendArguments(scriptOf(manifest, scriptName) ?? "", args);
  const receiver = receiverOf({ manifest }, scriptName, !isMain);
  const secrets = provision?.valuesFor(receiver) ?? [];
  const mayEvaluate = isCollected && !isKept && secrets.length === 0 && !attending;
  if (mayEvaluate && context.settings.shell === "rt" && needsNoProcess(line, originalEnvironment)) {
    return { argv: [], cwd: directory, env: {}, evaluate: () => evaluate(line, directory) };
  }
  const answer = mayEvaluate ? context.shell.answer(line) : undefined;
  if (answer) return { argv: [], cwd: directory, env: {}, evaluate: () => collect(answer) };
  const { shell, environment } = prepareStep(context, { directory, manifest }, scriptName, line);
  const withheld = provision?.withheldFrom(receiver) ?? [];
  const variables = {
    ...removeVariables({ ...environment, ...shell.environment }, withheld),
    ...variablesOf(secrets),
  };
  const command = {
    program: shell.program,
    argv: shell.argv,
    cwd: directory,
    // rt's own `exec` command changes into the engine's shell without a trace in the child's environment.
    env: { ...removeVariables(originalEnvironment, withheld), ...markWithheld(withheld), ...variables },
  };
  if (!attending) return command;
  // Those of the others too: what one has from the environment, or from a file of another's, it may show as well.
  const { redact, hide } = attending;
  if (isCollected) return { ...command, redact, hide };
  const start = { ...shell, environment: { ...withoutVariables(withheld), ...variables } };
  return { ...command, hide, attend: attending.attend(start, directory) };
}

async function collect({ code, output }: BuiltinResult): Promise<ShellResult> {
  return { code, stdout: new TextEncoder().encode(output) };
}

async function runAlone(
  task: ScriptTask,
  request: TaskRequest,
  { script, cache }: RunSettings,
  { provision, descriptors }: Pick<ManyRequest, "provision" | "descriptors">,
): Promise<ExitStatus> {
  if (request.eligibilityOf && choosePlacement(request.eligibilityOf(task)).place === "remote")
    return await runSingle(task, request);
  const { packageDirectory, manifest, scriptName, args } = task;
  const target = {
    kind: "script",
    name: scriptName,
    package: { directory: packageDirectory, manifest },
  } as const;
  const plan = { mode: "script", target, args } as const;
  const isGivenSecrets = task.steps.some(({ secrets }) => secrets !== undefined);
  if (cache && !isGivenSecrets) {
    const { planCached, whyNotCached } = await import("./cached-task.ts");
    if (planCached(plan, cache) && (await whyNotCached(task, cache)) === undefined)
      return await runSingle(task, request);
  }
  const supply: Supply | undefined =
    provision &&
    supplyOf(provision, (event = scriptName) => receiverOf({ manifest }, event, event !== scriptName));
  return await launchScript(plan, script, supply && { ...supply, ...(descriptors && { descriptors }) });
}
