// Run memo: replays the hits of an identical earlier run without planning, cache keys or entries (memoization).
//
// Invariants:
// - The output equals that of a normal run. The memo's key covers settings, arguments, directory, environment,
//   user, terminals and program.
// - The memoized plan is valid while all its inputs have the same stat fingerprints, a hit while all its
//   dependencies have. Other tasks of the plan run normally.
// - Runs with unusual options are not memoized.
//
// Non-obvious: a memo is written at the second identical run. Writing takes half as long as the run, and is useless
// if a variable differs each time.
import { realpathSync } from "node:fs";
import type { LookupRecorder } from "../../../../platform/files/lookup-recorder.ts";
import { host } from "../../../../platform/processes/process.ts";
import { stamps } from "../../../../platform/files/stat-fingerprint.ts";
import { hasTracing } from "../../../../platform/tracing/tracing.ts";
import { RunCache } from "../../../cache/run-cache.ts";
import { FORMAT, executableFingerprint } from "../../../cache/key/cache-key.ts";
import { HOUR } from "../../../cache/entry/entry-snapshot.ts";
import { parseOutputLog } from "../../../cache/entry/output-log.ts";
import {
  markForMemo,
  clearMemoMark,
  isRepeatExpected,
  readRunMemo,
  type RunMemo,
  writeRunMemo,
} from "../../../cache/memo/run-memo.ts";
import {
  type HitEvidence,
  lookupObservations,
  StatFingerprinter,
} from "../../../cache/memo/path-observations.ts";
import { type CacheStore, storeDirectory } from "../../../cache/store/cache-store.ts";
import { dependsOnChanges } from "../../../config/settings/many.ts";
import type { RunSettings } from "../../../config/settings/settings.ts";
import type { CacheHit, CachedRun } from "../../../cache/cached-script.ts";
import { type RunStatus, type ScriptTask, type TaskRequest } from "../../../tasks/task.ts";
import type { TaskCache } from "../../../tasks/task-cache.ts";
import { type TaskPlan } from "../../../tasks/planning/plan.ts";
import { VERSION } from "../../../version.ts";
import { isCacheInProject } from "../../../config/cache-directory.ts";
import { MemoizedHitTask, type MemoizedPlan, MemoizedTask } from "./memoized-task.ts";
import { reportLine } from "../../../output.ts";

/** With fewer scripts a normal run is as fast. */
const MIN_SCRIPTS = 10;

/** The part of a hit that reporters need. */
interface MemoizedHit {
  readonly why: string;
  /** Milliseconds. */
  readonly saved: number;
  readonly log: string;
  readonly used: number;
}

type MemoizedRun = RunMemo<MemoizedPlan, MemoizedHit>;

/** Functions of the caller's chunk. */
interface RunFunctions {
  runTasks(request: TaskRequest, plan: TaskPlan): Promise<RunStatus>;
  watchGlances(): LookupRecorder;
}

/** Undefined for a run that is not memoized. */
export async function openRunMemo(
  settings: RunSettings,
  cwd: string,
  functions: RunFunctions,
): Promise<MemoizedRunner | undefined> {
  const directory = storeDirectory();
  if (!stamps || directory === undefined || !isPlain(settings) || isCacheInProject(directory))
    return undefined;
  try {
    const cache = new RunCache(settings.cache!);
    return new MemoizedRunner(cache, computeKey(cache.store, settings, cwd), functions);
  } catch {
    return undefined; // a normal run reports the error
  }
}

function isPlain({ many, cache, remote, script, secrets, watch }: RunSettings): boolean {
  const { shard, share, dryRun, reports, scripts } = many!;
  const isSpecial =
    dependsOnChanges(many!) || [shard, share, dryRun, remote, watch].some((each) => each !== undefined);
  const isOrdinary = script.shell === "system" && !script.forceRuntime && script.envFiles.length === 0;
  const { isRead, isWritten, isVerified, isExplained, remote: others } = cache!;
  const isCached = isRead && isWritten && !isVerified && !isExplained && others === undefined;
  return !isSpecial && isOrdinary && isCached && [...reports, ...secrets].length === 0 && scripts.length > 0;
}

/** Hashes the key with the store's secret, because it contains values of variables. */
function computeKey(store: CacheStore, settings: RunSettings, cwd: string): string {
  const keyParts = {
    program: [FORMAT, VERSION, executableFingerprint(), host.system, hasTracing()],
    words: [host.exactArguments(process.argv.slice(2)), cwd, settings, realpathSync(settings.cache!.root)],
    // oxlint-disable-next-line typescript/no-deprecated -- there is no other way to read the umask
    user: [process.getuid?.(), process.umask(), host.isTerminal(1), host.isTerminal(2)],
    environment: host.originalEnvironment(),
  };
  const { secret } = store;
  return new Bun.CryptoHasher("sha256", secret.call(store)).update(JSON.stringify(keyParts)).digest("hex");
}

class MemoizedRunner {
  readonly cache: RunCache;
  readonly #store: CacheStore;
  readonly #id: string;
  readonly #functions: RunFunctions;
  readonly #glances: LookupRecorder;
  /** The memo of this run, and its plan. */
  #known: { readonly run: MemoizedRun; readonly plan: TaskPlan } | undefined;
  /** Evidence of each task's hit in the normal lookup. */
  readonly #bases = new Map<
    number,
    { readonly basis: HitEvidence; readonly why: string; readonly saved: number }
  >();
  /** Number of normal hits whose outputs were all in place. */
  #hits = 0;
  readonly #logs = new Map<string, CacheHit["pieces"]>();
  /** Tasks whose hits were replayed from the memo. */
  readonly #told = new Set<number>();

  constructor(cache: RunCache, id: string, functions: RunFunctions) {
    this.cache = cache;
    this.#store = cache.store;
    this.#id = id;
    this.#functions = functions;
    this.#glances = functions.watchGlances();
  }

  /** Like `runTasks`. @param request with the cache of this run */
  async run(request: TaskRequest): Promise<RunStatus> {
    const isExpectedAgain = attempt(() => isRepeatExpected(this.#store, this.#id));
    if (isExpectedAgain) this.cache.isEvidenceRecorded = true;
    this.#known = isExpectedAgain ? this.#readKnown(request) : undefined;
    const plan = this.#known?.plan ?? (await planNormally(request));
    const cache = this.#memoize(request.cache!, plan);
    const status = await this.#functions.runTasks({ ...request, cache }, plan);
    if (host.originalVariable("RT_DEBUG") === "recall")
      reportLine(`recalled ${this.#told.size} of ${plan.tasks.length} scripts`);
    if (isPlanPlain(plan)) attempt(() => this.#keep(plan, isExpectedAgain));
    return status;
  }

  #memoize(cache: TaskCache, plan: TaskPlan): TaskCache {
    let hasStarted = false;
    return {
      ...cache,
      open: async (task, extra) => {
        const hit = this.#recallHit(task);
        if (hit) return hit;
        const opened = await cache.open(task, extra);
        if (opened && !("notice" in opened)) this.#note(task, opened);
        return opened;
      },
      beforeStart: () => {
        if (!hasStarted) this.#endMemory(plan);
        hasStarted = true;
        cache.beforeStart();
      },
    };
  }

  #readKnown(request: TaskRequest): { run: MemoizedRun; plan: TaskPlan } | undefined {
    const run = attempt(() => readRunMemo<MemoizedPlan, MemoizedHit>(this.#store, this.#id));
    if (!attempt(() => run?.isCurrent())) return undefined;
    const { tasks, ...rest } = run!.all;
    const planned = tasks.map((task, index) => new MemoizedTask(task, index, request.args));
    return { run: run!, plan: { ...rest, tasks: planned, cycles: [], notices: [], isIncomplete: false } };
  }

  #recallHit({ index }: ScriptTask): CachedRun | undefined {
    const known = attempt(() => this.#known?.run.partAt(index));
    if (!known || known.used < Date.now() - HOUR || known.used > Date.now()) return undefined;
    const pieces = this.#piecesOf(known.log);
    if (!pieces) return undefined;
    this.#told.add(index);
    return new MemoizedHitTask(known.why, { pieces, saved: known.saved, restored: 0 });
  }

  /** Output logs are shared, because many scripts write the same, most of them nothing. */
  #piecesOf(log: string): CacheHit["pieces"] | undefined {
    let pieces = this.#logs.get(log);
    if (pieces) return pieces;
    const bytes = this.#store.readBlob(log);
    if (bytes) this.#logs.set(log, (pieces = parseOutputLog(bytes)));
    return pieces;
  }

  #note({ index }: ScriptTask, { hit, why, basis }: CachedRun): void {
    if (!hit || hit.restored > 0) return;
    this.#hits += 1;
    if (!basis) return;
    this.#bases.set(index, { basis, why, saved: hit.saved });
  }

  #endMemory({ tasks }: TaskPlan): void {
    this.#known?.run.end();
    if (this.#known) for (const task of tasks) if (!this.#told.has(task.index)) void task.manifest;
  }

  #keep(plan: TaskPlan, isExpectedAgain: boolean | undefined): void {
    if (!isExpectedAgain && this.#hits >= MIN_SCRIPTS) markForMemo(this.#store, this.#id);
    if (this.#bases.size > 0 && !this.#write(plan) && !this.#known) clearMemoMark(this.#store, this.#id);
  }

  /** Returns false if the run cannot be memoized. */
  #write(plan: TaskPlan): boolean {
    const stamper = new StatFingerprinter(performance.timeOrigin);
    const known = this.#known?.run;
    const seen = this.#glances.isWhole ? stamper.fingerprint(lookupObservations(this.#glances)) : null;
    if (!seen) return false;
    let learned = 0;
    const parts = plan.tasks.map(({ index }) => {
      const found = this.#bases.get(index);
      if (!found) return known?.copyPart(index) ?? null;
      const { basis, why, saved } = found;
      const rows = stamper.fingerprint(basis.observations);
      if (rows) learned += 1;
      return rows && { part: { why, saved, log: basis.log, used: basis.used }, rows };
    });
    const count = parts.filter((each) => each !== null).length;
    if (learned === 0 || count < MIN_SCRIPTS) return false;
    const { waitsFor, packageCount } = plan;
    // The whole rule: a task that runs beside hits needs its permissions and variables.
    const tasks = plan.tasks.map(({ index: _index, manifest: _manifest, args, ...rest }) => ({
      ...rest,
      argCount: args.length,
    }));
    const common = [...(known?.copyCommonRows() ?? []), ...seen];
    const all = { waitsFor, packageCount, tasks };
    writeRunMemo<MemoizedPlan, MemoizedHit>(this.#store, this.#id, { all, common, parts });
    return true;
  }
}

async function planNormally(request: TaskRequest): Promise<TaskPlan> {
  const { planTasks } = await import("../../../tasks/planning/plan.ts");
  return await planTasks(request);
}

/** An error of the memo falls back to a normal run. */
function attempt<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** Plans with warnings are not memoized, so that the warnings appear each time. */
function isPlanPlain({ tasks, notices, cycles, isIncomplete }: TaskPlan): boolean {
  return tasks.length >= MIN_SCRIPTS && notices.length === 0 && cycles.length === 0 && !isIncomplete;
}
