// Runs tasks on a remote execution server (`rt run --remote`): the connection, files and retries of one run.
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
  executeAction,
  type ExecutionServices,
  isRetryable,
  missingOutputs,
  type ActionOutcome,
} from "./action-execution.ts";
import { WorkspaceFiles } from "./workspace-files.ts";
import { packagesRead } from "./inputs.ts";
import { OutputDownloads } from "./output-downloads.ts";
import { type RemoteAction, prepareAction, splitLogs } from "./remote-action.ts";
import { connect } from "./server-connection.ts";
import { toUserError } from "./server-error.ts";
import { type PersistedState, openPersistedState } from "./persisted-state.ts";

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

/** Retries of a run: enough for a server that is replaced once, not for one that fails permanently. */
const BASE_RETRIES = 4;
const RETRIES_PER_TASK = 4;

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
  readonly #running = new Set<Promise<unknown>>();
  readonly #budget: RetryBudget;
  readonly #downloads: OutputDownloads;

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
    this.#downloads = new OutputDownloads({
      files: this.#files,
      signal: this.#connectionAbort.signal,
      budget: this.#budget,
      connect: () => this.#connect(),
      executeAgain: (task) => this.#executeWithRetries(task, () => {}, false),
    });
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
    this.#downloads.start(task, result);
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
    const outputs = this.#downloads.outputsOf(this.#dependenciesOf(task));
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

  async downloadOutputs(task: ScriptTask): Promise<void> {
    await this.#awaitOutputs(this.#dependenciesOf(task));
  }

  async #awaitOutputs(tasks?: readonly ScriptTask[]): Promise<void> {
    try {
      await this.#downloads.settle(tasks);
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
      await this.#awaitOutputs();
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
