// Builds the request of a run of several scripts, and supplies to src/tasks how scripts are started.
import { forbidReplay, startLookupRecorder } from "../../../platform/files/lookup-recorder.ts";
import { isAdopting } from "../../../platform/permissions/adoption.ts";
import { host } from "../../../platform/processes/process.ts";
import type { RunCache } from "../../cache/run-cache.ts";
import type { SecretProvision } from "../../secrets/grants/secret-provisioning.ts";
import type { Config } from "../../config/rtfig.ts";
import { describeStrayRules } from "../../config/unmatched-rules.ts";
import { choosesPackages, type ManySettings } from "../../config/settings/many.ts";
import type { RunSettings } from "../../config/settings/settings.ts";
import { runSingle, runTasks } from "./run-tasks.ts";
import {
  type SpawnCommand,
  type CommandRequest,
  type ScriptTask,
  type TaskRequest,
} from "../../tasks/task.ts";
import { choosePlacement } from "../../tasks/execution/placement.ts";
import { scriptOf, stepsOf } from "../../workspace/package-json.ts";
import type { TaskPermissions } from "../../permissions/task-permissions.ts";
import type { ScriptPlan } from "../plan.ts";
import type { StepFactory } from "./cache/cached-task.ts";
import { withoutPackageVariables } from "../script/environment.ts";
import type { Supply } from "../script/launch.ts";
import { taskOf } from "../single-task.ts";
import type { ExitStatus } from "../script/step-wait.ts";
import { appendArguments, quoteArgument } from "../../shell-quoting.ts";
import { openRun, prepareStep, type RunContext } from "../script/step-preparation.ts";
import { markWithheld, removeVariables, variablesOf, withoutVariables } from "../script/secret-variables.ts";
import { describeNestedRun } from "./nested-run.ts";
import { describeOptionArgument } from "./option-argument.ts";
import { createRemoteRunner } from "./remote/remote-runner.ts";
import { RunSecrets } from "./secrets/run-secrets.ts";
import { rulesOf } from "./script-rules.ts";
import { openSecrets, receiverOf, supplyOf } from "./secrets/target-secrets.ts";
import { createTaskCache } from "./cache/task-cache.ts";

/** Zeroizes its secrets when it is disposed. */
export interface ManyRequest extends Disposable {
  readonly tasks: TaskRequest;
  readonly provision: SecretProvision | undefined;
  /** Inherited descriptors, set if there are secrets: a program that replaces rt must not inherit others. */
  readonly descriptors: readonly number[] | undefined;
  /** Undefined if no task has permissions. */
  readonly permissions?: TaskPermissions | undefined;
}

export async function runMany(
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
): Promise<ExitStatus> {
  const memo =
    settings.cache && choosesPackages(settings.many!) && !settings.permissions?.observation
      ? await (
          await import("./cache/memoized-run.ts")
        ).openRunMemo(settings, cwd, { runTasks, watchGlances: startLookupRecorder })
      : undefined;
  using request = await openMany(settings, config, cwd, memo?.cache);
  const { tasks, provision, descriptors, permissions } = request;
  const commandRequest: TaskRequest = {
    ...tasks,
    runAlone: (task) => runAlone(task, tasks, settings, { provision, descriptors }),
  };
  const status = memo && !provision ? await memo.run(commandRequest) : await runTasks(commandRequest);
  if (!permissions || tasks.dryRun) return status;
  // A server that was learned ends by Ctrl-C.
  const isInterrupt = typeof status === "object" && status.signal === "SIGINT";
  const code = await permissions.conclude(status === 0 ? "success" : isInterrupt ? "interrupt" : "failure");
  return status === 0 ? code : status;
}

/** Runs a single cached script, shown without prefixes. */
export async function runCached(
  task: ScriptTask,
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  provision: SecretProvision | undefined,
): Promise<ExitStatus> {
  return await runSingle(task, requestFor(manyOfOne(task.scriptName), settings, config, cwd, provision));
}

/** Runs a single script remotely; returns "here" if its placement is local. */
export async function runRemotely(
  plan: ScriptPlan,
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  provision: SecretProvision | undefined,
): Promise<ExitStatus | "here"> {
  const task = taskOf(plan);
  const request = requestFor(manyOfOne(task.scriptName), settings, config, cwd, provision);
  return choosePlacement(request.remote!.eligibilityOf(task)).place === "remote"
    ? await runSingle(task, request)
    : "here";
}

/** Settings of a run with one script. */
export function manyOfOne(script: string, args: readonly string[] = []): ManySettings {
  return {
    scripts: [script],
    args,
    isSeparated: true,
    filters: [],
    workspaces: false,
    parallel: false,
    sequential: false,
    noExitOnError: false,
    ifPresent: false,
    reports: [],
  };
}

/** @param opened the cache, if the caller has opened it @throws UserError @throws PackageJsonError */
export async function openMany(
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  opened?: RunCache,
): Promise<ManyRequest> {
  const provision = await openSecrets({ settings, config, directory: cwd });
  // Listed before the connection to the credential store is opened.
  const descriptors = provision && host.inheritedDescriptors();
  const mayReplay = settings.permissions !== undefined && replays().mayReplayPermissions(settings);
  if (settings.permissions && !mayReplay) forbidReplay(); // trust and traces are not recorded
  if (isAdopting() && !mayReplay) replays().refuseOther();
  const permissions =
    settings.permissions &&
    (await import("../../permissions/task-permissions.ts")).openTaskPermissions(settings.permissions, cwd);
  const tasks = requestFor(settings.many!, settings, config, cwd, provision, { opened, permissions });
  const close = () => {
    provision?.zero();
    permissions?.close();
  };
  return { tasks, provision, descriptors, permissions, [Symbol.dispose]: close };
}

/** Loaded only for a run with permissions. */
function replays() {
  return require("./replayed-permissions.ts") as typeof import("./replayed-permissions.ts");
}

function requestFor(
  many: ManySettings,
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  provision: SecretProvision | undefined,
  { opened, permissions }: { opened?: RunCache | undefined; permissions?: TaskPermissions | undefined } = {},
): TaskRequest {
  const { script, cache, remote } = settings;
  const originalEnvironment = withoutPackageVariables(host.originalEnvironment());
  const context = openRun(script);
  const secrets = provision && new RunSecrets(provision);
  const mayReplay = permissions !== undefined && !secrets && replays().mayReplayPermissions(settings);
  const commandOf = (commandRequest: CommandRequest) =>
    restrict(commandRequest, commandFor(commandRequest, originalEnvironment, context, secrets));
  const restrict = (commandRequest: CommandRequest, command: SpawnCommand): SpawnCommand => {
    if (!permissions) return command;
    const { task, packageDirectory, manifest, scriptName, isMain, isDependency } = commandRequest;
    const given = secrets?.of(manifest, scriptName, isMain, isDependency) ?? [];
    const replayed = mayReplay && { rule: task.rule, steps: stepsOf(manifest, task.scriptName) };
    const start = replayed ? replays().startOf(replayed, script.silent, permissions) : undefined;
    if (isAdopting() && !start) replays().refuseOther(); // its table has changed
    const permitted = permissions.forStep(
      { ...task, packageDirectory, isDependency },
      command.env,
      originalEnvironment,
      [...context.named, ...given.map(({ name }) => name)],
      start,
    );
    // rt redacts the output of a restricted task with pipes only.
    return permitted
      ? { ...command, ...permitted, redact: command.redact ?? secrets?.redact, attend: undefined }
      : command;
  };
  const starting: StepFactory = {
    commandFor: commandOf,
    get named() {
      return context.named;
    },
  };
  return {
    ...many,
    args: host.exactArguments(many.args),
    taskRules: settings.tasks,
    config,
    // Machines of one run have different records, and a watched run decides about each change anyway.
    selectsTasks: many.affected !== undefined && !many.shard && !many.share && !settings.watch,
    cwd,
    env: originalEnvironment,
    // The front has printed the line.
    silent: script.silent || isAdopting(),
    commandFor: commandOf,
    quote: quoteArgument,
    adviseOn: (workspace) => {
      const notices = [
        settings.tasks && describeOptionArgument(many),
        describeNestedRun(many.scripts, cache, workspace),
      ].filter((each) => each !== undefined);
      return [...notices, ...describeStrayRules(rulesOf(settings, config, cwd, provision), workspace)];
    },
    cache: cache && createTaskCache(cache, { many, config, cwd, starting, env: originalEnvironment, opened }),
    remote: remote && createRemoteRunner(remote, { cache, script, config, cwd, permissions }),
    sharing: many.share && {
      open: async (plan) =>
        await (await import("./remote/share.ts")).openCoordinator(many.share!, plan, config, cwd),
      whyUnshared: async (task) => await (await import("./remote/share.ts")).whyUnshared(task, cache),
    },
    secrets,
    permissions,
  };
}

function commandFor(
  {
    packageDirectory: directory,
    manifest,
    scriptName,
    args,
    isMain,
    isDependency,
    isCollected,
  }: CommandRequest,
  originalEnvironment: Readonly<Record<string, string>>,
  context: RunContext,
  given: RunSecrets | undefined,
): SpawnCommand {
  const { provision, redaction } = given ?? {};
  const line = appendArguments(scriptOf(manifest, scriptName) ?? "", args);
  const receiver = receiverOf({ manifest }, scriptName, !isMain, isDependency);
  const secrets = provision?.valuesFor(receiver) ?? [];
  const { shell, environment } = prepareStep(context, { directory, manifest }, scriptName, line);
  const withheld = provision?.withheldFrom(receiver) ?? [];
  const variables = {
    ...removeVariables({ ...environment, ...shell.environment }, withheld),
    ...variablesOf(secrets),
  };
  const command = {
    program: shell.program,
    argv: shell.argv,
    engine: shell.engine,
    cwd: directory,
    env: { ...removeVariables(originalEnvironment, withheld), ...markWithheld(withheld), ...variables },
  };
  if (!redaction) return command;
  // Values of other scripts are redacted too: a script may get them from the environment or from another script's
  // files.
  const { redact, hide } = redaction;
  if (isCollected) return { ...command, redact, hide };
  const start = { ...shell, environment: { ...withoutVariables(withheld), ...variables } };
  return { ...command, hide, attend: redaction.attend(start, directory) };
}

async function runAlone(
  task: ScriptTask,
  request: TaskRequest,
  { script, cache }: RunSettings,
  { provision, descriptors }: Pick<ManyRequest, "provision" | "descriptors">,
): Promise<ExitStatus> {
  if (request.remote && choosePlacement(request.remote.eligibilityOf(task)).place === "remote")
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
    const { planCached, whyNotCached } = await import("./cache/cached-task.ts");
    if (planCached(plan, cache) && (await whyNotCached(task, cache)) === undefined)
      return await runSingle(task, request);
  }
  const supply: Supply | undefined =
    provision &&
    supplyOf(provision, (event = scriptName) => receiverOf({ manifest }, event, event !== scriptName));
  const { launchScript } = await import("../script/launch.ts");
  return await launchScript(plan, script, supply && { ...supply, ...(descriptors && { descriptors }) });
}
