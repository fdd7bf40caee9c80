// Executes one action: result lookup -> upload of missing blobs -> execution -> validation of the result ->
// download.
//
// Invariants:
// - A transient error is retried, with the files read again, within the run's budget (../reapi/grpc/retry.ts).
// - No output is written before all outputs of the script are downloaded and match their digests.
//
// Non-obvious: an action may be executed twice if the connection is lost. Each execution has its own directory on
// the server, so that is idempotent.
import { posix } from "node:path";
import { withoutSlash } from "../reapi/action.ts";
import type { RemoteClient } from "../reapi/client.ts";
import type { CasClient } from "../reapi/cas-client.ts";
import { fromMessage } from "../reapi/digest.ts";
import type { ActionResult } from "../reapi/messages/remote_execution.ts";
import { type ActionOutput, readOutputs, treesOf } from "../reapi/outputs.ts";
import { Code } from "../reapi/grpc/grpc-status.ts";
import { codeOf, RemoteError } from "../reapi/grpc/retry.ts";
import type { BlobUploader } from "../reapi/blob-uploader.ts";
import type { RemoteAction } from "./remote-action.ts";
import { writeOutputs } from "./output-placement.ts";

export interface ExecutionServices {
  readonly client: RemoteClient;
  readonly store: CasClient;
  readonly uploads: BlobUploader;
}

export interface ActionOutcome {
  readonly job: RemoteAction;
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** The declared outputs that exist. */
  readonly roots: readonly string[];
  readonly outputs: readonly ActionOutput[];
  readonly machine: string | undefined;
  /** Set for a cached result: the duration of the original execution in milliseconds, if the server reports it. */
  readonly saved: number | undefined;
}

export interface Attempt {
  readonly usesCache: boolean;
  /** Cancels the execution. Transfers end with the connection. */
  readonly signal: AbortSignal;
  readonly onStart?: () => void;
}

/** Lost content can be uploaded or produced again; another worker can replace a lost one. */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error);
  const retryable: readonly number[] = [
    Code.NOT_FOUND,
    Code.FAILED_PRECONDITION,
    Code.UNAVAILABLE,
    Code.ABORTED,
    Code.RESOURCE_EXHAUSTED,
  ];
  return (
    (error as Error).name === "RemoteError" &&
    ((error as RemoteError).isDamaged || (code !== undefined && retryable.includes(code)))
  );
}

/** @throws RemoteError, or the signal's reason */
export async function executeAction(
  job: RemoteAction,
  connection: ExecutionServices,
  attempt: Attempt,
): Promise<ActionOutcome> {
  const { client, store } = connection;
  const found = attempt.usesCache ? await client.findResult(job.action.digest) : undefined;
  // Some servers cache failures too. A failure is executed again, because its cause may have been the worker.
  const known = found?.exitCode === 0 ? found : undefined;
  attempt.signal.throwIfAborted();
  if (known) attempt.onStart?.();
  const usesCache = attempt.usesCache && found === undefined;
  const result = known ?? (await execute(job, connection, { ...attempt, usesCache }));
  const trees = await store.download(treesOf(result));
  const outputs = readOutputs(result, job.script.outputs, trees);
  const produced = new Set(outputs.map(({ path }) => path));
  const logs = [fromMessage(result.stdoutDigest), fromMessage(result.stderrDigest)] as const;
  const texts = await store.download(logs.filter((digest) => digest !== undefined));
  const [stdout, stderr] = logs.map((digest) => digest && texts.get(digest.hash));
  const { exitCode, executionMetadata } = result;
  return {
    job,
    code: exitCode >= 0 && exitCode < 256 ? exitCode : 1,
    stdout: stdout ?? result.stdoutRaw,
    stderr: stderr ?? result.stderrRaw,
    roots: job.script.outputs.map(withoutSlash).filter((path) => produced.has(path)),
    outputs,
    machine: executionMetadata?.worker || undefined,
    saved: known && durationOf(known),
  };
}

async function execute(
  { blobs, inputs, action }: RemoteAction,
  { client, uploads }: ExecutionServices,
  { usesCache, signal, onStart }: Attempt,
): Promise<ActionResult> {
  const { lateBlobs, trees } = inputs;
  await Promise.all([
    uploads.send(blobs),
    uploads.sendLate(lateBlobs),
    ...trees.map((tree) => uploads.sendTree(tree)),
  ]);
  const { result, status, message } = await client.execute(action.digest, {
    skipCache: !usesCache,
    signal,
    ...(onStart && { onAccepted: onStart }),
  });
  if (status && status.code !== 0) throw new RemoteError(status.message || message, status.code);
  if (!result) throw new RemoteError("the execution ended without a result");
  return result;
}

/** Undefined if the server reports no times. */
function durationOf({ executionMetadata }: ActionResult): number | undefined {
  const { executionStartTimestamp: start, executionCompletedTimestamp: end } = executionMetadata ?? {};
  if (!start || !end) return undefined;
  return Math.max(0, Number(end.seconds - start.seconds) * 1000 + (end.nanos - start.nanos) / 1e6);
}

/**
 * Downloads outputs and writes them to the package. @throws RemoteError @throws UserError @param directory the
 * package's
 */
export async function downloadOutputs(
  { outputs, roots }: ActionOutcome,
  store: CasClient,
  directory: string,
) {
  const files = outputs.flatMap((output) => (output.kind === "file" ? [output.digest] : []));
  const contents = await store.download(files);
  writeOutputs(directory, roots, outputs, contents);
}

/** Declared outputs that the script did not produce. */
export function missingOutputs({ job, roots }: ActionOutcome): string[] {
  return job.script.outputs.map(withoutSlash).filter((output) => !roots.includes(output));
}

/** Paths relative to the workspace's root. @param own the package's path */
export function pathsOf(own: string, paths: readonly string[]): string[] {
  return paths.map((path) => posix.join(own, withoutSlash(path)));
}
