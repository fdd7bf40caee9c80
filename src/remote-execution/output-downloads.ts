// Downloads the outputs of tasks that have ended remotely, and passes them on to tasks that depend on them.
//
// Invariants: dependents get outputs by digest, before they are in place. If the server has lost the outputs of a task, the task is
// executed again, within the budget of retries.
import { RemoteError, type RetryBudget } from "../reapi/grpc/retry.ts";
import { ConcurrencyLimiter } from "../tasks/execution/concurrency-limiter.ts";
import type { ScriptTask } from "../tasks/task.ts";
import {
  type ActionOutcome,
  downloadOutputs,
  type ExecutionServices,
  isRetryable,
  pathsOf,
} from "./action-execution.ts";
import type { UpstreamOutputs } from "./inputs.ts";
import type { WorkspaceFile, WorkspaceFiles } from "./workspace-files.ts";

/** Tasks whose outputs are downloaded at the same time, each into memory. */
const MAX_DOWNLOADS = 4;

interface DownloadState {
  /** Replaced if the server lost the outputs and the task was executed again. */
  outputs: UpstreamOutputs;
  /** Settled when the outputs are in place locally. */
  readonly inPlace: Promise<void>;
}

interface DownloadOptions {
  readonly files: WorkspaceFiles;
  readonly signal: AbortSignal;
  readonly budget: RetryBudget;
  connect(): Promise<ExecutionServices>;
  /** Executes a task without results that the server has cached. */
  executeAgain(task: ScriptTask): Promise<ActionOutcome>;
}

export class OutputDownloads {
  readonly #options: DownloadOptions;
  readonly #downloads = new Map<ScriptTask, DownloadState>();
  readonly #limiter = new ConcurrencyLimiter(MAX_DOWNLOADS);

  constructor(options: DownloadOptions) {
    this.#options = options;
  }

  start(task: ScriptTask, result: ActionOutcome): void {
    const inPlace = Promise.resolve().then(() => this.#download(task, result));
    inPlace.catch(() => {}); // awaited by dependents and by the end of the run
    this.#downloads.set(task, { outputs: this.#upstreamOutputs(task, result, inPlace), inPlace });
  }

  /** Returns the outputs of those tasks that have run remotely. */
  outputsOf(tasks: readonly ScriptTask[]): UpstreamOutputs[] {
    return tasks.flatMap((task) => this.#downloads.get(task)?.outputs ?? []);
  }

  /** Waits until the outputs of these tasks, or of all, are in place. @throws RemoteError */
  async settle(tasks: readonly ScriptTask[] = [...this.#downloads.keys()]): Promise<void> {
    await Promise.all(tasks.flatMap((task) => this.#downloads.get(task)?.inPlace ?? []));
  }

  #upstreamOutputs(
    task: ScriptTask,
    { job, outputs }: ActionOutcome,
    inPlace: Promise<void>,
  ): UpstreamOutputs {
    const { files } = this.#options;
    const own = files.pathOf(task.packageDirectory);
    const produced = outputs.map((output): WorkspaceFile => {
      const [path] = pathsOf(own, [output.path]) as [string];
      const input = { ...output, path };
      if (input.kind !== "file") return { input };
      const { digest } = input;
      const read = async (start: number, end: number) => {
        await inPlace;
        const here = await files.find(path);
        if (here?.blob?.digest.hash === digest.hash) return await here.blob.read(start, end);
        throw new RemoteError(`${path} changed after the script produced it`, undefined, true);
      };
      return { input, blob: { digest, read } };
    });
    return { outputs: pathsOf(own, job.script.outputs), files: produced };
  }

  async #download(task: ScriptTask, result: ActionOutcome): Promise<void> {
    const { files, signal, budget, connect } = this.#options;
    let current = result;
    for (let attempt = 1; ; attempt++) {
      try {
        const { store, uploads } = await connect();
        if (attempt > 1) {
          uploads.forget();
          current = await this.#produceAgain(task, result);
        }
        return await this.#limiter.run(0, async () => {
          signal.throwIfAborted();
          await downloadOutputs(current, store, task.packageDirectory);
        });
      } catch (error) {
        signal.throwIfAborted();
        if (!isRetryable(error) || !budget.take(attempt, "action")) throw error;
      } finally {
        files.invalidateBelow(pathsOf(files.pathOf(task.packageDirectory), current.roots));
      }
    }
  }

  /** Executes the task again, because the server has lost its outputs. */
  async #produceAgain(task: ScriptTask, { code }: ActionOutcome): Promise<ActionOutcome> {
    const again = await this.#options.executeAgain(task);
    if (again.code !== code)
      throw new RemoteError(`it lost the outputs of ${task.label}, and rerunning it gave another exit code`);
    const ended = this.#downloads.get(task)!;
    ended.outputs = this.#upstreamOutputs(task, again, ended.inPlace);
    return again;
  }
}
