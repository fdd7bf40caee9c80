// Executes a plan: starts the program, becomes it, or prints why it cannot run. Rarely needed parts are imported on
// demand.
import { isAdopting } from "../../platform/permissions/adoption.ts";
import { host } from "../../platform/processes/process.ts";
import type { EphemeralFile } from "../../platform/files/contract/ephemeral-file.ts";
import type { PreparedTerminal } from "../../platform/terminal/contract/terminal.ts";
import type { Config } from "../config/rtfig.ts";
import { printError } from "../error-output.ts";
import { contactsRegistries } from "../secrets/registries/registry-commands.ts";
import { choosesPackages } from "../config/settings/many.ts";
import type { ScriptSettings } from "../config/settings/script.ts";
import type { RunSettings } from "../config/settings/settings.ts";
import { SUPERVISED } from "./engine/internal-variables.ts";
import type { RunOutcome, Reopen } from "./outcome.ts";
import type { ExecutionPlan } from "./plan.ts";
import { fetchFor, openTargetSecrets, type TargetSecrets } from "./task-run/secrets/target-secrets.ts";
import { reportLine } from "../output.ts";

interface ExecutionContext {
  readonly settings: RunSettings;
  readonly config: Config | undefined;
  /** Undefined if rtfig.toml and options give none. */
  readonly secrets: TargetSecrets | undefined;
  /** Whether user code runs, which may import `rt`. */
  readonly runsCode: boolean;
  readonly reopen: Reopen;
}

export async function execute(
  plan: ExecutionPlan,
  settings: RunSettings,
  runsCode: boolean,
  config: Config | undefined,
  reopen: Reopen,
): Promise<RunOutcome> {
  const { permissions } = settings;
  // Only a run of the scheduler takes a script over.
  if (isAdopting()) (await import("./task-run/replayed-permissions.ts")).refuseOther();
  if (permissions && plan.mode === "script") {
    const { refuseUnrestricted } = await import("./task-run/unrestricted-target.ts");
    refuseUnrestricted(plan, settings);
  }
  const secrets = await openTargetSecrets(plan, settings, config);
  if (host.originalVariable("RT_DEBUG") === "plan")
    reportLine(JSON.stringify({ ...plan, ...(secrets?.isGiven && { secrets: secrets.shown }) }));
  try {
    return await carryOut(plan, { settings, config, secrets, runsCode, reopen });
  } finally {
    secrets?.provision.zero();
  }
}

async function carryOut(plan: ExecutionPlan, context: ExecutionContext): Promise<RunOutcome> {
  const { settings, secrets } = context;
  if (settings.permissions?.asked !== undefined && isTarget(plan)) {
    const { runRestricted } = await import("./restricted/restricted-target.ts");
    return await runRestricted(plan, settings, secrets);
  }
  if (settings.remote && plan.mode !== "refuse") {
    const outcome = await executeRemotely(plan, context);
    if (outcome !== "here") return outcome;
  }
  switch (plan.mode) {
    case "nothing":
      return;
    case "in-process":
      return async () => {
        const { startInProcess } = await import("./file/in-process.ts");
        await startInProcess(plan);
      };
    case "engine":
      if (settings.target === "-" && settings.watch)
        return await watchScript(settings, await Bun.stdin.bytes());
      return await executeInEngine(plan, context);
    case "program":
    case "script":
      return settings.watch ? await watchTarget(plan, context) : await executeScript(plan, context);
    case "refuse": {
      const { suggestTarget } = await import("./resolve/suggestion.ts");
      const hint =
        plan.hint ??
        (plan.notFound && (await suggestTarget(plan.notFound, process.cwd(), settings.isExplicit)));
      return printError(plan.message, hint);
    }
  }
}

/** Whether a plan is for something without a row in [tasks]. */
function isTarget(
  plan: ExecutionPlan,
): plan is Extract<ExecutionPlan, { mode: "in-process" | "engine" | "program" }> {
  return plan.mode === "in-process" || plan.mode === "engine" || plan.mode === "program";
}

/** Returns "here" for scripts that rtfig.toml does not send to a server, and for those that cannot be sent. */
async function executeRemotely(
  plan: Exclude<ExecutionPlan, { mode: "refuse" }>,
  { settings, config, secrets }: ExecutionContext,
): Promise<RunOutcome | "here"> {
  const { isAsked } = settings.remote!;
  if (!isAsked && (plan.mode !== "script" || secrets?.isGiven)) return "here";
  if (plan.mode !== "script")
    return printError("--remote works with package.json scripts only", "`rt run` lists the scripts");
  if (secrets?.isGiven)
    return printError(
      "The script receives secrets, which are never sent to another machine",
      "omit --remote to run it locally",
    );
  const { runRemotely } = await import("./task-run/multi-script.ts");
  return await runRemotely(plan, settings, config, process.cwd(), secrets?.provision);
}

async function executeScript(
  plan: Extract<ExecutionPlan, { mode: "program" | "script" }>,
  { settings, config, secrets }: ExecutionContext,
): Promise<RunOutcome> {
  await warnAboutScript(settings);
  if (plan.mode === "program" && !/[\\/]/.test(plan.name) && !plan.path.includes("node_modules")) {
    const { warnAboutProgram } = await import("./resolve/member-scripts.ts");
    for (const line of await warnAboutProgram(plan.name, plan.path, process.cwd())) reportLine(line);
  }
  if (plan.mode === "script" && settings.cache) {
    const { planCached, whyNotCached } = await import("./task-run/cache/cached-task.ts");
    const task = planCached(plan, settings.cache);
    const given = secrets?.isGiven ? "the script is not cached: it receives secrets" : undefined;
    const reason = given ?? (task && (await whyNotCached(task, settings.cache)));
    if (task && reason === undefined)
      return await (
        await import("./task-run/multi-script.ts")
      ).runCached(task, settings, config, process.cwd(), secrets?.provision);
    if (task && reason) reportLine(`warning: ${reason}`);
  }
  const [fetched, { launchProgram, launchScript, prepared, early }] = await Promise.all([
    fetchFor(secrets),
    loadLaunch(plan, settings, secrets),
  ]);
  const supply = fetched && early ? { ...fetched, early } : fetched;
  return plan.mode === "script"
    ? await launchScript(plan, settings.script, supply, prepared)
    : await launchProgram(plan, settings.script, supply);
}

type Launch = typeof import("./script/launch.ts");

/**
 * Loads the launcher. The request to the credential store is sent first, and the time until its reply is used for
 * preparation.
 */
async function loadLaunch(
  plan: Extract<ExecutionPlan, { mode: "program" | "script" }>,
  { script }: RunSettings,
  secrets: TargetSecrets | undefined,
): Promise<
  Launch & { readonly prepared?: ReturnType<Launch["prepareScript"]>; readonly early?: PreparedTerminal }
> {
  if (!secrets) return await import("./script/launch.ts");
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  const { provision, receivers, descriptors } = secrets;
  let early: PreparedTerminal | undefined;
  if (receivers.some((receiver) => provision.isRedacted(receiver)))
    early = (await import("./script/stdio-strategy.ts")).openEarly(descriptors);
  const launch = await import("./script/launch.ts");
  const prepared = plan.mode === "script" ? launch.prepareScript(plan, script) : undefined;
  return { ...launch, prepared, early };
}

async function executeInEngine(
  { argv, file }: Extract<ExecutionPlan, { mode: "engine" }>,
  context: ExecutionContext,
): Promise<RunOutcome> {
  const { settings, secrets, runsCode } = context;
  const { code, again, watch } = settings;
  // The engine restarts a program with the same environment, so secrets that must be fetched again need rt's own
  // restart.
  if (file && watch && secrets?.shown.some(({ source }) => source !== "environment"))
    return await watchScript(settings);
  if (file && code.isWatched && host.originalVariable(SUPERVISED) !== "1") {
    for (const option of watch?.narrowing ?? [])
      reportLine(`warning: ${option} has no effect on a file: what it imports is watched, and nothing else`);
    const { superviseEngine } = await import("./watch/engine-watch.ts");
    return await superviseEngine(again!.code, file);
  }
  if (code.envFiles.length > 0 || code.tsconfig !== undefined || code.preloads.length > 0) {
    const { requirePreloads, requireTsconfig, warnAboutEnvFiles } = await import("./option-files.ts");
    for (const line of warnAboutEnvFiles(code.envFiles)) reportLine(line);
    requireTsconfig(code);
    requirePreloads(code, process.cwd());
  }
  for (const line of code.unmet) reportLine(line);
  let path: string | undefined;
  if (!runsCode || code.forceRuntime) {
    const { pathForEngine } = await import("./script/path-shims.ts");
    path = pathForEngine(code.forceRuntime, runsCode ? "" : "rt bun bunx");
  }
  const installer = settings.installScripts && (await import("./install-scripts/install-shim.ts"));
  const words = settings.tool?.name === "pm" ? settings.tool.words : [];
  await using restricted = await installer?.restrictInstallScripts(
    settings.installScripts!,
    process.cwd(),
    path,
    words,
  );
  const handed = await engineConfig(argv, context);
  const { becomeEngine, describeStartError, engineCommand } = await import("./engine/engine.ts");
  const { isHelped, asksRegistry, port } = code;
  const supply = await fetchFor(secrets);
  const engine = {
    config: handed.path,
    serve: handed.serve,
    withheld: handed.withheld,
    path: restricted?.path ?? path,
    isHelped,
    asksRegistry,
    sendsTokens: handed.hasTokens ?? false,
    port,
    supply,
    variables: restricted?.variables,
  };
  if (supply) {
    const { startRedactedIfNeeded: attendIfRedacted } = await import("./script/redacted-process.ts");
    const command = engineCommand(argv, runsCode, engine);
    const outcome = await attendIfRedacted(command, supply.secretsFor(), "end");
    if (typeof outcome === "string") throw describeStartError(outcome);
    if (outcome !== undefined) return outcome;
  }
  if (restricted) {
    const outcome = await installer!.runInstaller(engineCommand(argv, runsCode, engine));
    if (typeof outcome === "string") throw describeStartError(outcome);
    return outcome;
  }
  return becomeEngine(argv, runsCode, engine);
}

interface HandedConfig extends Partial<EphemeralFile> {
  readonly hasTokens?: boolean;
  readonly withheld?: readonly string[];
}

async function engineConfig(
  argv: readonly string[],
  { settings, config: read, runsCode }: ExecutionContext,
): Promise<HandedConfig> {
  const word = argv[0]!;
  const { tool } = settings;
  const config = read && tool?.name === "test" ? await withoutOverridden(read, tool.words) : read;
  if (!runsCode && contactsRegistries(word)) {
    const { openRegistryAccess } = await import("../secrets/registries/tool-config.ts");
    const { file, withheld } = await openRegistryAccess(word, config, process.cwd());
    if (file) return { ...file, hasTokens: true, withheld };
    return { ...(await fileFor(config, "tool")), withheld };
  }
  const use = word === "test" ? "test" : runsCode ? "code" : "tool";
  return await fileFor(config, use);
}

async function fileFor(
  config: Config | undefined,
  use: "test" | "code" | "tool",
): Promise<{ readonly path?: string }> {
  if (!config) return {};
  const { fileForEngine } = await import("../config/engine-config.ts");
  const path = fileForEngine(config, use, process.cwd());
  return path === undefined ? {} : { path };
}

async function withoutOverridden(config: Config, words: readonly string[]): Promise<Config> {
  const { dropOverridden } = await import("../config/overridden-test-keys.ts");
  return dropOverridden(config, words);
}

/** Executes several scripts, or scripts of several packages. */
export async function executeMany(
  settings: RunSettings,
  config: Config | undefined,
  cwd: string,
  reopen: Reopen,
): Promise<RunOutcome> {
  if (settings.watch) {
    if (!choosesPackages(settings.many!) && !settings.tasks) return await watchScript(settings);
    const { watchPackages } = await import("./watch/multi-package-watch.ts");
    return await watchPackages(settings, config, cwd, reopen);
  }
  await warnAboutScript(settings);
  const { runMany } = await import("./task-run/multi-script.ts");
  return await runMany(settings, config, cwd);
}

/** A cached script runs in this process, which records its inputs. Any other runs in a separate rt process. */
async function watchTarget(
  plan: Extract<ExecutionPlan, { mode: "program" | "script" }>,
  { settings, config, secrets, reopen }: ExecutionContext,
): Promise<RunOutcome> {
  const { cache, script } = settings;
  if (plan.mode === "program" || !cache || secrets?.isGiven || script.envFiles.length > 0)
    return await watchScript(settings);
  const { planCached, whyNotCached } = await import("./task-run/cache/cached-task.ts");
  const task = planCached(plan, cache);
  if (!task || (await whyNotCached(task, cache)) !== undefined) return await watchScript(settings);
  await warnAboutScript(settings);
  const { watchPackages } = await import("./watch/multi-package-watch.ts");
  const { manyOfOne } = await import("./task-run/multi-script.ts");
  const many = manyOfOne(task.scriptName, plan.args);
  return await watchPackages({ ...settings, many }, config, process.cwd(), reopen);
}

async function watchScript(settings: RunSettings, input?: Uint8Array<ArrayBuffer>): Promise<RunOutcome> {
  const { watchRun } = await import("./watch/script-watch.ts");
  return await watchRun(settings, process.cwd(), input);
}

/** Warns about options without effect. */
async function warnAboutScript({ target, script }: RunSettings): Promise<void> {
  if (script.envFiles.length > 0) {
    const { warnAboutEnvFiles } = await import("./option-files.ts");
    for (const line of warnAboutEnvFiles(script.envFiles)) reportLine(line);
  }
  if (script.idle.length > 0) reportLine(describeIdle(script, target));
}

function describeIdle({ idle }: ScriptSettings, target: string | undefined): string {
  const isOne = idle.length === 1;
  const where = target === undefined ? "a list of scripts" : `"${target}"`;
  return (
    `warning: ${idle.join(", ")} ${isOne ? "has" : "have"} no effect on ${where}; it applies only to code run by rt: ` +
    `write ${isOne ? "it" : "them"} in the script, as in: rt ${idle[0]} <file>`
  );
}
