// Starts rt as a restricted child, waits for it, and explains its refusals.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import { colorLabel, reportLine } from "../../output.ts";
import { printError } from "../../error-output.ts";
import type { PermittedTask, TaskPermissions } from "../../permissions/task-permissions.ts";
import type { SecretValue } from "../../redaction/secret-value.ts";
import { OutputQueue } from "../../tasks/output-queue.ts";
import { createRunRedaction } from "../task-run/secrets/run-redaction.ts";
import { variablesOf } from "../script/secret-variables.ts";
import { openSignalForwarder } from "../script/signal-forwarding.ts";
import type { ExitStatus } from "../script/step-wait.ts";

export interface RestrictedRequest {
  /** The command line of the inner rt. */
  readonly words: readonly string[];
  /** A folder in front of PATH. */
  readonly path?: string | undefined;
  readonly secrets: readonly SecretValue[];
}

/** @throws UserError, or the system's error */
export async function runRestrictedProcess(
  permissions: TaskPermissions,
  task: PermittedTask,
  { words, path, secrets }: RestrictedRequest,
): Promise<ExitStatus> {
  const original = host.originalEnvironment();
  const wanted = { ...original, ...variablesOf(secrets) };
  const { env, permissions: own } = permissions.forStep(
    task,
    wanted,
    original,
    secrets.map(({ name }) => name),
  )!;
  const output = await openOutput(secrets, () => trees.signalTrees([child], "SIGTERM"));
  const forwarder = openSignalForwarder();
  const startChild = own.start ?? trees.startChild;
  const child = startChild({
    program: process.execPath,
    argv: ["rt", ...words],
    cwd: process.cwd(),
    env: path === undefined ? env : { ...env, PATH: `${path}:${env.PATH ?? ""}` },
    output: output ? "separate" : "inherit",
    inheritStdin: true,
    onOutput: (bytes, isError) => output?.push(bytes, isError),
    permissions: {
      rules: own.rules,
      variables: own.variables,
      onRefusal(refusal) {
        const explained = own.explain(refusal);
        if (explained) warn(output?.hide(explained.message) ?? explained.message);
      },
    },
  });
  forwarder.forwardTo(child);
  const { code, signal } = await child.done;
  await output?.end();
  const received = await forwarder.close();
  if (output?.lost !== undefined) return output.lost;
  if (signal) return { signal: signal as NodeJS.Signals };
  if (code !== 0) {
    if (!received && own.failure !== undefined) warn(own.failure);
    return code;
  }
  return own.lockedFailure === undefined ? 0 : printError(own.lockedFailure);
}

function warn(message: string): void {
  reportLine(colorLabel(`warning: ${message}`));
}

interface RedactedStreams {
  /** Set if output could not be written: the exit status of rt. */
  readonly lost: ExitStatus | undefined;
  push(bytes: Uint8Array, isError: boolean): void | Promise<void>;
  hide(text: string): string;
  end(): Promise<void>;
}

/**
 * Returns undefined if the output has no values to redact.
 * @param onLost called when output cannot be written @throws UserError if a value cannot be redacted
 */
async function openOutput(
  secrets: readonly SecretValue[],
  onLost: () => void,
): Promise<RedactedStreams | undefined> {
  if (!secrets.some(({ isRedacted }) => isRedacted)) return undefined;
  const { redact, hide } = await createRunRedaction(secrets);
  const queue = new OutputQueue();
  let lost: ExitStatus | undefined;
  queue.onBroken = ({ code }) => {
    lost ??= code === "EPIPE" ? { signal: "SIGPIPE" } : 1;
    onLost();
  };
  const { push, end } = redact((bytes, isError) => queue.write(isError ? 2 : 1, bytes));
  return {
    push,
    get lost() {
      return lost;
    },
    hide: (text) => hide(text, true),
    async end() {
      await end();
      await queue.flush();
    },
  };
}
