// Runs tasks on a remote execution server (`rt run --remote`): the connection, files and outputs of one run.
//
// Invariants:
// - Only declared files and variables are sent, never secrets.
// - Outputs are passed on by digest, and downloaded before a dependent starts locally and before the run ends.
// - A failing script is not an error. A server error ends the run for all tasks.
import { host } from "../../platform/processes/process.ts";
import { configHint } from "../config-hint.ts";
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import { Code } from "../reapi/grpc/grpc-status.ts";
import { codeOf, RemoteError, RetryBudget } from "../reapi/grpc/retry.ts";
import type { RemoteSettings } from "../config/settings/remote.ts";
import type { ScriptSettings } from "../config/settings/script.ts";
import { ConcurrencyLimiter } from "../tasks/execution/concurrency-limiter.ts";
import type {
  PlanOrder,
  ServerBusy,
  RemoteResult,
  RemoteRun,
  RemotePreview,
} from "../tasks/execution/placement.ts";
import type { ScriptTask } from "../tasks/task.ts";
import { findWorkspaceRoot } from "../workspace/members.ts";
import {
  downloadOutputs,
  executeAction,
  type ExecutionServices,
  isRetryable,
  missingOutputs,
  pathsOf,
  type ActionOutcome,
} from "./action-execution.ts";
import { type WorkspaceFile, WorkspaceFiles } from "./workspace-files.ts";
import { type UpstreamOutputs, packagesRead } from "./inputs.ts";
import { type RemoteAction, prepareAction, splitLogs } from "./remote-action.ts";
import { connect } from "./server-connection.ts";
import { toUserError } from "./server-error.ts";
import { type PersistedState, openPersistedState } from "./persisted-state.ts";

/** Tasks whose outputs are downloaded at the same time, each into memory. */
const MAX_DOWNLOADS = 4;
/** Maximum wait at the end of a run for cancellations to reach the server, in milliseconds. */
const CANCEL_TIMEOUT = 3000;

/** @throws UserError @param tasks the tasks that run remotely */
export async function openRemote(
  tasks: readonly ScriptTask[],
  order: PlanOrder,
  remote: RemoteSettings,
  script: ScriptSettings,
): Promise<RemoteRun> {
  return new RemoteTaskRunner(tasks, order, remote, script);
}

/** Previews what would be sent. @throws UserError */
export async function previewRemote(
  tasks: readonly ScriptTask[],
  order: PlanOrder,
  remote: RemoteSettings,
  script: ScriptSettings,
): Promise<ReadonlyMap<ScriptTask, RemotePreview>> {
  const run = new RemoteTaskRunner(tasks, order, remote, script);
  const previews = new Map<ScriptTask, RemotePreview>();
  for (const task of tasks) previews.set(task, await run.preview(task, new Set(tasks)));
  return previews;
}

/** Retries of a run: enough for a server that is replaced once, not for one that fails for good. */
const BASE_RETRIES = 4;
const RETRIES_PER_TASK = 4;

interface DownloadState {
  /** Replaced if the server lost the outputs and the task was executed again. */
  outputs: UpstreamOutputs;
  /** Settled when the outputs are in place locally. */
  readonly inPlace: Promise<void>;
}

class RemoteTaskRunner implements RemoteRun {
  readonly limit: number;
  readonly #order: PlanOrder;
  readonly #remote: RemoteSettings;
  readonly #script: ScriptSettings;
  readonly #persisted: PersistedState;
  readonly #files: WorkspaceFiles;
  /** Aborts everything on the connection. */
  readonly #connectionAbort = new AbortController();
  readonly #executionAbort = new AbortController();
  #connection: Promise<ExecutionServices> | undefined;
  readonly #downloads = new Map<ScriptTask, DownloadState>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #budget: RetryBudget;
  readonly #downloadLimiter = new ConcurrencyLimiter(MAX_DOWNLOADS);

  /** @throws UserError if installed packages are for another system */
  constructor(
    tasks: readonly ScriptTask[],
    order: PlanOrder,
    remote: RemoteSettings,
    script: ScriptSettings,
  ) {
    requireSystem(remote);
    const directory = tasks[0]!.packageDirectory;
    const root = findWorkspaceRoot(directory) ?? directory;
    const packages = new Set(tasks.flatMap((task) => packagesRead(root, task.packageDirectory)));
    this.limit = remote.concurrency;
    this.#budget = new RetryBudget(BASE_RETRIES + RETRIES_PER_TASK * tasks.length);
    this.#order = order;
    this.#remote = remote;
    this.#script = script;
    this.#persisted = openPersistedState(root, remote);
    this.#files = new WorkspaceFiles(root, [...packages], this.#persisted.hashes);
  }

  async preview(task: ScriptTask, remote: ReadonlySet<ScriptTask>): Promise<RemotePreview> {
    const job = await this.#prepare(task);
    const after = this.#dependenciesOf(task).filter((each) => remote.has(each));
    const { hash, size } = job.action.digest;
    return {
      files: job.inputs.files,
      bytes: job.inputs.bytes,
      after,
      outputs: job.script.outputs,
      variables: ["PATH", ...job.script.env],
      ...(after.length === 0 && { action: `${hash}/${size}` }),
    };
  }

  async run(task: ScriptTask, onStart: () => void): Promise<RemoteResult | ServerBusy | "stopped"> {
    const running = this.#run(task, once(onStart));
    this.#running.add(running);
    try {
      return await Promise.race([running, stopped(this.#executionAbort.signal)]);
    } catch (error) {
      if (this.#executionAbort.signal.aborted) return "stopped";
      const failure = this.#explain(error);
      if (codeOf(error) === Code.RESOURCE_EXHAUSTED && this.#running.size > 1) return { refused: failure };
      throw failure;
    } finally {
      void running.catch(() => {}).finally(() => this.#running.delete(running));
    }
  }

  async #run(task: ScriptTask, onStart: () => void): Promise<RemoteResult> {
    const result = await this.#executeWithRetries(task, onStart, !this.#remote.isForced);
    const { job, code, machine, saved } = result;
    this.#downloads.set(task, this.#startDownload(task, result));
    return {
      code,
      logs: splitLogs(result.stdout, result.stderr, job.separator, task.steps.length),
      machine,
      saved: code === 0 ? saved : undefined,
      warnings:
        code === 0
          ? missingOutputs(result).map((output) => `${task.label} did not produce its output ${output}`)
          : [],
    };
  }

  async #executeWithRetries(
    task: ScriptTask,
    onStart: () => void,
    usesCache: boolean,
  ): Promise<ActionOutcome> {
    const { signal } = this.#executionAbort;
    for (let attempt = 1; ; attempt++) {
      try {
        const preparing = this.#prepare(task);
        // Connects at the same time, because `#prepare` waits for git first. File errors are reported before server
        // errors.
        const connecting = this.#connect();
        connecting.catch(() => {});
        const job = await preparing;
        return await executeAction(job, await connecting, {
          usesCache: usesCache && attempt === 1,
          signal,
          onStart,
        });
      } catch (error) {
        signal.throwIfAborted();
        const isBusyWithOthers = codeOf(error) === Code.RESOURCE_EXHAUSTED && this.#running.size > 1;
        if (isBusyWithOthers || !isRetryable(error) || !this.#budget.take(attempt, "action")) throw error;
        await this.#prepareRetry(task, error as RemoteError);
      }
    }
  }

  /** Uploads content again that the server has lost. Outputs of other tasks have to be downloaded first. */
  async #prepareRetry(task: ScriptTask, { isDamaged }: RemoteError): Promise<void> {
    await this.downloadOutputs(task);
    if (isDamaged) this.#files.invalidateHashes();
    else this.invalidateFiles();
    (await this.#connect()).uploads.forget();
  }

  async #connect(): Promise<ExecutionServices> {
    this.#connection ??= connect(this.#remote, this.#persisted, this.#connectionAbort.signal, this.#budget);
    try {
      return await this.#connection;
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }

  #prepare(task: ScriptTask): Promise<RemoteAction> {
    const outputs = this.#dependenciesOf(task).flatMap((each) => this.#downloads.get(each)?.outputs ?? []);
    return prepareAction(task, this.#files, this.#remote, this.#script, outputs);
  }

  /** All transitive dependencies, in plan order. */
  #dependenciesOf(task: ScriptTask): ScriptTask[] {
    const { tasks, waitsFor } = this.#order;
    const before = new Set(waitsFor[task.index]);
    // A Set may grow while it is iterated.
    for (const index of before) for (const each of waitsFor[index] ?? []) before.add(each);
    return [...before].sort((a, b) => a - b).map((index) => tasks[index]!);
  }

  /** Starts the download of the outputs. */
  #startDownload(task: ScriptTask, result: ActionOutcome): DownloadState {
    const inPlace = Promise.resolve().then(() => this.#download(task, result));
    inPlace.catch(() => {}); // awaited by dependents and by the end of the run
    return { outputs: this.#upstreamOutputs(task, result, inPlace), inPlace };
  }

  #upstreamOutputs(
    task: ScriptTask,
    { job, outputs }: ActionOutcome,
    inPlace: Promise<void>,
  ): UpstreamOutputs {
    const own = this.#files.pathOf(task.packageDirectory);
    const files = outputs.map((output): WorkspaceFile => {
      const [path] = pathsOf(own, [output.path]) as [string];
      const input = { ...output, path };
      if (input.kind !== "file") return { input };
      const { digest } = input;
      const read = async (start: number, end: number) => {
        await inPlace;
        const here = await this.#files.find(path);
        if (here?.blob?.digest.hash === digest.hash) return await here.blob.read(start, end);
        throw new RemoteError(`${path} changed after the script produced it`, undefined, true);
      };
      return { input, blob: { digest, read } };
    });
    return { outputs: pathsOf(own, job.script.outputs), files };
  }

  /** Downloads outputs. If the server has lost them, executes the task again. */
  async #download(task: ScriptTask, result: ActionOutcome): Promise<void> {
    let current = result;
    for (let attempt = 1; ; attempt++) {
      try {
        const { store, uploads } = await this.#connect();
        if (attempt > 1) {
          uploads.forget();
          current = await this.#executeWithRetries(task, () => {}, false);
          if (current.code !== result.code)
            throw new RemoteError(
              `it lost the outputs of ${task.label}, and rerunning it gave another exit code`,
            );
          const ended = this.#downloads.get(task)!;
          ended.outputs = this.#upstreamOutputs(task, current, ended.inPlace);
        }
        return await this.#downloadLimiter.run(0, async () => {
          this.#connectionAbort.signal.throwIfAborted();
          await downloadOutputs(current, store, task.packageDirectory);
        });
      } catch (error) {
        this.#connectionAbort.signal.throwIfAborted();
        if (!isRetryable(error) || !this.#budget.take(attempt, "action")) throw error;
      } finally {
        this.#files.invalidateBelow(pathsOf(this.#files.pathOf(task.packageDirectory), current.roots));
      }
    }
  }

  async downloadOutputs(task: ScriptTask): Promise<void> {
    await this.#awaitOutputs(this.#dependenciesOf(task));
  }

  async #awaitOutputs(tasks: Iterable<ScriptTask>): Promise<void> {
    try {
      await Promise.all([...tasks].flatMap((task) => this.#downloads.get(task)?.inPlace ?? []));
    } catch (error) {
      if (this.#connectionAbort.signal.aborted) return;
      throw this.#explain(error);
    }
  }

  invalidateFiles(): void {
    this.#files.invalidate();
  }

  stop(): void {
    this.#executionAbort.abort();
  }

  abandon(): void {
    this.#executionAbort.abort();
    this.#connectionAbort.abort();
  }

  async finish(): Promise<void> {
    try {
      await this.#awaitOutputs(this.#downloads.keys());
    } finally {
      this.#persisted.write();
      // A cancelled task ends when its cancellation has reached the server.
      this.abandon();
      if (this.#running.size > 0)
        await Promise.race([Promise.allSettled(this.#running), Bun.sleep(CANCEL_TIMEOUT)]);
      (await this.#connection?.catch(() => undefined))?.client[Symbol.dispose]();
    }
  }

  #explain(error: unknown): unknown {
    return (error as Error).name === "RemoteError" ? toUserError(error as RemoteError, this.#remote) : error;
  }
}

/** Installed packages are for this system. @throws UserError */
function requireSystem({ system }: RemoteSettings, here = host.system.replace(" ", "-")): void {
  if (system !== here)
    throw new UserError(
      `The script cannot run remotely: the server runs ${oneLine(system)}, and node_modules is for ${here}`,
      `if the server runs ${here}, ${configHint(["run", "remote", "system"], here)}`,
    );
}

function stopped(signal: AbortSignal): Promise<"stopped"> {
  if (signal.aborted) return Promise.resolve("stopped");
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"), { once: true }));
}

function once(call: () => void): () => void {
  let isCalled = false;
  return () => {
    if (!isCalled) call();
    isCalled = true;
  };
}
