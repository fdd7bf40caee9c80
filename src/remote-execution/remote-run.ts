// Scripts on another machine: `rt run --remote`, one script or many. Here is what they share in a run: the connection, the
// files of the workspace, what was sent, what others have made.
//
// Contract: exit code and output are the script's, as if it had run here. What its package and rtfig.toml do not name stays
// here, secrets at any rate. What one script has made, another gets by its digests, without a way over this machine; it is
// fetched beside what runs, and is in place before a script that waits for it starts here, and at the end of the run. A
// script that fails is no error; what is wrong with the server is one, for all scripts alike.
import { resetEnvironment } from "../../platform/processes/dotenv-reset.ts";
import { host } from "../../platform/processes/process.ts";
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import { RemoteClient } from "../reapi/client.ts";
import { Code } from "../reapi/grpc/grpc-status.ts";
import { codeOf, RemoteError } from "../reapi/grpc/retry.ts";
import { BlobUploader } from "../reapi/blob-uploader.ts";
import type { RemoteSettings } from "../config/settings/remote.ts";
import type { ScriptSettings } from "../config/settings/script.ts";
import { ConcurrencyLimiter } from "../tasks/execution/concurrency-limiter.ts";
import type { ServerBusy, RemoteResult, RemoteRun, RemotePreview } from "../tasks/execution/placement.ts";
import type { ScriptTask } from "../tasks/task.ts";
import { VERSION } from "../version.ts";
import { findWorkspaceRoot } from "../workspace/members.ts";
import {
  downloadOutputs,
  executeAction,
  type ExecutionServices,
  isRetryable,
  missingOutputs,
  pathsOf,
  type ActionOutcome,
  TRIES,
} from "./action-execution.ts";
import { type WorkspaceFile, WorkspaceFiles } from "./workspace-files.ts";
import { type UpstreamOutputs, packagesRead } from "./inputs.ts";
import { type RemoteAction, prepareJob, splitLogs } from "./remote-action.ts";
import { toUserError } from "./server-error.ts";
import { type PersistedState, openMemory } from "./persisted-state.ts";

/** What of the plan they are, and what waits for what, by task index. */
interface Order {
  readonly tasks: readonly ScriptTask[];
  readonly waitsFor: readonly (readonly number[])[];
}

/** Scripts whose files are fetched at a time, each into memory. */
const MOST_FETCHED = 4;
/** Milliseconds that the end of a run waits at most until the server knows what is cancelled. */
const CANCEL_PATIENCE = 3000;

/** Throws Failure. @param tasks those that are to run there */
export async function openRemote(
  tasks: readonly ScriptTask[],
  order: Order,
  remote: RemoteSettings,
  script: ScriptSettings,
): Promise<RemoteRun> {
  return new Remote(tasks, order, remote, script);
}

/** What would be sent. Throws Failure. */
export async function previewRemote(
  tasks: readonly ScriptTask[],
  order: Order,
  remote: RemoteSettings,
  script: ScriptSettings,
): Promise<ReadonlyMap<ScriptTask, RemotePreview>> {
  const run = new Remote(tasks, order, remote, script);
  const sketches = new Map<ScriptTask, RemotePreview>();
  for (const task of tasks) sketches.set(task, await run.sketch(task, new Set(tasks)));
  return sketches;
}

interface Ended {
  /** Another one when the server has lost it, and it was made again. */
  made: UpstreamOutputs;
  /** Settled when it is in place here. */
  readonly placed: Promise<void>;
}

class Remote implements RemoteRun {
  readonly limit: number;
  readonly #order: Order;
  readonly #remote: RemoteSettings;
  readonly #script: ScriptSettings;
  readonly #memory: PersistedState;
  readonly #files: WorkspaceFiles;
  /** Of all that goes over the connection, and of what runs there. */
  readonly #all = new AbortController();
  readonly #executions = new AbortController();
  #connection: Promise<ExecutionServices> | undefined;
  readonly #ended = new Map<ScriptTask, Ended>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #fetches = new ConcurrencyLimiter(MOST_FETCHED);

  /** Throws Failure where what is installed here is not for that system. */
  constructor(tasks: readonly ScriptTask[], order: Order, remote: RemoteSettings, script: ScriptSettings) {
    requireSystem(remote);
    const directory = tasks[0]!.packageDirectory;
    const root = findWorkspaceRoot(directory) ?? directory;
    const packages = new Set(tasks.flatMap((task) => packagesRead(root, task.packageDirectory)));
    this.limit = remote.concurrency;
    this.#order = order;
    this.#remote = remote;
    this.#script = script;
    this.#memory = openMemory(root, remote);
    this.#files = new WorkspaceFiles(root, [...packages], this.#memory.hashes);
  }

  async sketch(task: ScriptTask, remote: ReadonlySet<ScriptTask>): Promise<RemotePreview> {
    const job = await this.#prepare(task);
    const after = this.#before(task).filter((each) => remote.has(each));
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
      return await Promise.race([running, stopped(this.#executions.signal)]);
    } catch (error) {
      if (this.#executions.signal.aborted) return "stopped";
      const failure = this.#explain(error);
      if (codeOf(error) === Code.RESOURCE_EXHAUSTED && this.#running.size > 1) return { refused: failure };
      throw failure;
    } finally {
      void running.catch(() => {}).finally(() => this.#running.delete(running));
    }
  }

  async #run(task: ScriptTask, onStart: () => void): Promise<RemoteResult> {
    const result = await this.#carryOut(task, onStart, !this.#remote.isForced);
    const { job, code, machine, saved } = result;
    this.#ended.set(task, this.#bringBack(task, result));
    return {
      code,
      logs: splitLogs(result.stdout, result.stderr, job.mark, task.steps.length),
      machine,
      saved: code === 0 ? saved : undefined,
      warnings:
        code === 0 ? missingOutputs(result).map((output) => `${task.label} has not made ${output}`) : [],
    };
  }

  async #carryOut(task: ScriptTask, onStart: () => void, usesKnown: boolean): Promise<ActionOutcome> {
    const { signal } = this.#executions;
    for (let attempt = 1; ; attempt++) {
      try {
        const preparing = this.#prepare(task);
        // Beside that, which waits for git at first; what is wrong with the files is said before what is with the server.
        const connecting = this.#connect();
        connecting.catch(() => {});
        const job = await preparing;
        return await executeAction(job, await connecting, {
          usesKnown: usesKnown && attempt === 1,
          signal,
          onStart,
        });
      } catch (error) {
        signal.throwIfAborted();
        const hasOthers = codeOf(error) === Code.RESOURCE_EXHAUSTED && this.#running.size > 1;
        if (attempt >= TRIES || hasOthers || !isRetryable(error)) throw error;
        await this.#startOver(task, error as RemoteError);
      }
    }
  }

  /** What the server has lost is sent again; what others have made there is not here before it was fetched. */
  async #startOver(task: ScriptTask, { isDamaged }: RemoteError): Promise<void> {
    await this.downloadOutputs(task);
    if (isDamaged) this.#files.distrust();
    else this.invalidateFiles();
    (await this.#connect()).uploads.forget();
  }

  async #connect(): Promise<ExecutionServices> {
    this.#connection ??= connect(this.#remote, this.#memory, this.#all.signal);
    try {
      return await this.#connection;
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }

  #prepare(task: ScriptTask): Promise<RemoteAction> {
    const made = this.#before(task).flatMap((each) => this.#ended.get(each)?.made ?? []);
    return prepareJob(task, this.#files, this.#remote, this.#script, made);
  }

  /** All that it waits for, in plan order. */
  #before(task: ScriptTask): ScriptTask[] {
    const { tasks, waitsFor } = this.#order;
    const before = new Set(waitsFor[task.index]);
    // A Set is walked while it grows.
    for (const index of before) for (const each of waitsFor[index] ?? []) before.add(each);
    return [...before].sort((a, b) => a - b).map((index) => tasks[index]!);
  }

  /** Begins to fetch what it has made. */
  #bringBack(task: ScriptTask, result: ActionOutcome): Ended {
    const placed = Promise.resolve().then(() => this.#fetch(task, result));
    placed.catch(() => {}); // whoever needs it waits for it, and the end of the run
    return { made: this.#madeOf(task, result, placed), placed };
  }

  #madeOf(task: ScriptTask, { job, outputs }: ActionOutcome, placed: Promise<void>): UpstreamOutputs {
    const own = this.#files.pathOf(task.packageDirectory);
    const found = outputs.map((output): WorkspaceFile => {
      const [path] = pathsOf(own, [output.path]) as [string];
      const input = { ...output, path };
      if (input.kind !== "file") return { input };
      const { digest } = input;
      const read = async (start: number, end: number) => {
        await placed;
        const here = await this.#files.find(path);
        if (here?.blob?.digest.hash === digest.hash) return await here.blob.read(start, end);
        throw new RemoteError(`${path} is another by now than when it was made`, undefined, true);
      };
      return { input, blob: { digest, read } };
    });
    return { outputs: pathsOf(own, job.script.outputs), found };
  }

  /** What the server has lost meanwhile is made again. */
  async #fetch(task: ScriptTask, result: ActionOutcome): Promise<void> {
    let current = result;
    for (let attempt = 1; ; attempt++) {
      try {
        const { store, uploads } = await this.#connect();
        if (attempt > 1) {
          uploads.forget();
          current = await this.#carryOut(task, () => {}, false);
          if (current.code !== result.code)
            throw new RemoteError(`it has lost what ${task.label} had made, which now ends otherwise`);
          const ended = this.#ended.get(task)!;
          ended.made = this.#madeOf(task, current, ended.placed);
        }
        return await this.#fetches.run(0, async () => {
          this.#all.signal.throwIfAborted();
          await downloadOutputs(current, store, task.packageDirectory);
        });
      } catch (error) {
        this.#all.signal.throwIfAborted();
        if (attempt >= TRIES || !isRetryable(error)) throw error;
      } finally {
        this.#files.forget(pathsOf(this.#files.pathOf(task.packageDirectory), current.roots));
      }
    }
  }

  async downloadOutputs(task: ScriptTask): Promise<void> {
    await this.#placed(this.#before(task));
  }

  async #placed(tasks: Iterable<ScriptTask>): Promise<void> {
    try {
      await Promise.all([...tasks].flatMap((task) => this.#ended.get(task)?.placed ?? []));
    } catch (error) {
      if (this.#all.signal.aborted) return;
      throw this.#explain(error);
    }
  }

  invalidateFiles(): void {
    this.#files.invalidate();
  }

  stop(): void {
    this.#executions.abort();
  }

  abandon(): void {
    this.#executions.abort();
    this.#all.abort();
  }

  async finish(): Promise<void> {
    try {
      await this.#placed(this.#ended.keys());
    } finally {
      this.#memory.write();
      // What is cancelled there has been told so when these have ended.
      this.abandon();
      if (this.#running.size > 0)
        await Promise.race([Promise.allSettled(this.#running), Bun.sleep(CANCEL_PATIENCE)]);
      (await this.#connection?.catch(() => undefined))?.client[Symbol.dispose]();
    }
  }

  #explain(error: unknown): unknown {
    return (error as Error).name === "RemoteError" ? toUserError(error as RemoteError, this.#remote) : error;
  }
}

async function connect(
  remote: RemoteSettings,
  { seen }: PersistedState,
  signal: AbortSignal,
): Promise<ExecutionServices> {
  // The engine would warn of what a project's files say, and src/reapi/grpc/connection.ts has no use for it.
  resetEnvironment();
  const client = new RemoteClient({ ...remote, toolVersion: VERSION }, signal);
  try {
    const store = await client.connect();
    return { client, store, uploads: new BlobUploader(store, seen) };
  } catch (error) {
    client[Symbol.dispose]();
    throw error;
  }
}

/** What is installed here is for this system. Throws Failure. */
function requireSystem({ system }: RemoteSettings): void {
  const here = host.system.replace(" ", "-");
  if (system === here) return;
  throw new UserError(
    `The script cannot run remotely: there it is ${oneLine(system)}, and node_modules is for ${here}`,
    "run.remote.system in rtfig.toml says what is there",
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
