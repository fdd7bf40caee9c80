// One action, from what is known of it to all that it has made: the same for a script that runs alone and for one of many.
//
//   a result that is there already? -> upload what is missing -> execute -> read and check the result -> fetch, put in place
//
// Contract: what fails on the way and may go well another time is done again, with the files looked at anew; then it is an
// error. Nothing is written before all that one script has made has come and is what its digests say.
//
// Surprising: an action may be carried out twice, when the server is lost and comes back. It runs in a folder of its own
// there, so that nobody sees the first.
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
  /** The declared outputs that there are. */
  readonly roots: readonly string[];
  readonly outputs: readonly ActionOutput[];
  readonly machine: string | undefined;
  /** Where nothing was executed: how long it had taken, in milliseconds, as far as that is told. */
  readonly saved: number | undefined;
}

export interface Attempt {
  /** Whether what the server knows is used. */
  readonly usesKnown: boolean;
  /** Of the execution; what is transferred ends with the connection. */
  readonly signal: AbortSignal;
  readonly onStart?: () => void;
}

/** How often an action is begun again, whose machine or content the server has lost. */
export const TRIES = 3;

/** Content that is gone is uploaded or made again; a machine that is gone has others beside it. */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error);
  const passing: readonly number[] = [
    Code.NOT_FOUND,
    Code.FAILED_PRECONDITION,
    Code.UNAVAILABLE,
    Code.ABORTED,
    Code.RESOURCE_EXHAUSTED,
  ];
  return (
    (error as Error).name === "RemoteError" &&
    ((error as RemoteError).isDamaged || (code !== undefined && passing.includes(code)))
  );
}

/** Throws RemoteError, or the signal's reason. */
export async function executeAction(
  job: RemoteAction,
  connection: ExecutionServices,
  attempt: Attempt,
): Promise<ActionOutcome> {
  const { client, store } = connection;
  const found = attempt.usesKnown ? await client.findResult(job.action.digest) : undefined;
  // Some servers keep failures too, and would give one again for ever: the reason may have been the machine's.
  const known = found?.exitCode === 0 ? found : undefined;
  attempt.signal.throwIfAborted();
  if (known) attempt.onStart?.();
  const usesKnown = attempt.usesKnown && found === undefined;
  const result = known ?? (await execute(job, connection, { ...attempt, usesKnown }));
  const trees = await store.download(treesOf(result));
  const outputs = readOutputs(result, job.script.outputs, trees);
  const made = new Set(outputs.map(({ path }) => path));
  const logs = [fromMessage(result.stdoutDigest), fromMessage(result.stderrDigest)] as const;
  const texts = await store.download(logs.filter((digest) => digest !== undefined));
  const [stdout, stderr] = logs.map((digest) => digest && texts.get(digest.hash));
  const { exitCode, executionMetadata } = result;
  return {
    job,
    code: exitCode >= 0 && exitCode < 256 ? exitCode : 1,
    stdout: stdout ?? result.stdoutRaw,
    stderr: stderr ?? result.stderrRaw,
    roots: job.script.outputs.map(withoutSlash).filter((path) => made.has(path)),
    outputs,
    machine: executionMetadata?.worker || undefined,
    saved: known && durationOf(known),
  };
}

async function execute(
  { blobs, inputs, action }: RemoteAction,
  { client, uploads }: ExecutionServices,
  { usesKnown, signal, onStart }: Attempt,
): Promise<ActionResult> {
  const { late, trees } = inputs;
  await Promise.all([
    uploads.send(blobs),
    uploads.sendLate(late),
    ...trees.map((tree) => uploads.sendTree(tree)),
  ]);
  const { result, status, message } = await client.execute(action.digest, {
    skipCache: !usesKnown,
    signal,
    ...(onStart && { onAccepted: onStart }),
  });
  if (status && status.code !== 0) throw new RemoteError(status.message || message, status.code);
  if (!result) throw new RemoteError("it ends without a result");
  return result;
}

/** Undefined where the server does not tell. */
function durationOf({ executionMetadata }: ActionResult): number | undefined {
  const { executionStartTimestamp: start, executionCompletedTimestamp: end } = executionMetadata ?? {};
  if (!start || !end) return undefined;
  return Math.max(0, Number(end.seconds - start.seconds) * 1000 + (end.nanos - start.nanos) / 1e6);
}

/** Fetches what was made and puts it in place. Throws RemoteError, Failure. @param directory the package's */
export async function downloadOutputs(
  { outputs, roots }: ActionOutcome,
  store: CasClient,
  directory: string,
) {
  const files = outputs.flatMap((output) => (output.kind === "file" ? [output.digest] : []));
  const contents = await store.download(files);
  writeOutputs(directory, roots, outputs, contents);
}

/** What it declares and has not made. */
export function missingOutputs({ job, roots }: ActionOutcome): string[] {
  return job.script.outputs.map(withoutSlash).filter((output) => !roots.includes(output));
}

/** Of the workspace's root. @param own the package's path from there */
export function pathsOf(own: string, paths: readonly string[]): string[] {
  return paths.map((path) => posix.join(own, withoutSlash(path)));
}
