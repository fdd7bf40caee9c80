// Runs a program with secrets and redacts its output: rt stays between the program and the terminal or pipe.
// stdio-strategy.ts chooses pty or pipes.
//
// Invariants:
// - Exit code, signals and terminal behave as after exec; docs/guides/secrets/redaction.md lists the exceptions.
// - All output is flushed at the end and secret values are zeroized. If the reader disconnects, the program
//   notices. If output cannot be written, the run fails.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import { terminals } from "../../../platform/terminal/terminal.ts";
import type { PreparedTerminal } from "../../../platform/terminal/contract/terminal.ts";
import type { ReplaceRequest } from "../../../platform/processes/contract/process.ts";
import { hasRedacted, refuseShort } from "../../redaction/minimum-length.ts";
import type { SecretValue } from "../../redaction/secret-value.ts";
import type { Redaction, Redactor } from "../../redaction/stream.ts";
import { OutputQueue } from "../../tasks/output-queue.ts";
import { chooseForProcess, type StdioStrategy } from "./stdio-strategy.ts";
import { openSignalForwarder } from "./signal-forwarding.ts";
import type { ExitStatus, Next } from "./step-wait.ts";

/**
 * Returns undefined if nothing has to be redacted; the program is then started normally. Returns the system's error
 * code if it cannot be started.
 * @throws UserError if a value cannot be redacted
 * @param early closed if it is not needed
 */
export async function startRedactedIfNeeded(
  command: ReplaceRequest,
  secrets: readonly SecretValue[],
  next: Next,
  early?: PreparedTerminal,
): Promise<ExitStatus | string | undefined> {
  const strategy = chooseForProcess(hasRedacted(secrets));
  if (strategy.kind !== "pty") early?.close();
  return strategy.kind === "exec" ? undefined : await startRedacted(command, strategy, secrets, next, early);
}

interface Stream {
  readonly queue: OutputQueue;
  readonly redactor: Redactor;
}

const ENDING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function startRedacted(
  command: ReplaceRequest,
  { kind, places }: Exclude<StdioStrategy, { kind: "exec" }>,
  secrets: readonly SecretValue[],
  next: Next,
  early?: PreparedTerminal,
): Promise<ExitStatus | string> {
  refuseShort(secrets);
  const stage =
    early ?? terminals.prepareTerminal(places, command.descriptors ?? host.inheritedDescriptors());
  if (typeof stage === "string") return stage;
  let isOver = false;
  let isIncomplete = false;
  const forwarder = kind === "pipes" ? openSignalForwarder() : undefined;
  // Only rt is left to handle the signal, and it may wait for a slow reader.
  const onSignal = () => isOver && all.forEach(({ queue }) => queue.hurry());
  const handledSignals = host.handledSignals(ENDING);
  for (const signal of handledSignals) process.on(signal, onSignal);
  const openStream = (opened: Redaction, descriptor: 1 | 2): Stream => {
    const queue = new OutputQueue();
    queue.onBroken = ({ code }) => {
      isIncomplete ||= code !== "EPIPE" && code !== "EIO";
      if (typeof attended === "object") attended.hangUp(descriptor);
    };
    const isTerminal = places[descriptor] === "terminal";
    return { queue, redactor: opened.stream((bytes) => queue.write(descriptor, bytes), isTerminal) };
  };
  let redaction: Redaction | undefined;
  const streams: Partial<Record<1 | 2, Stream>> = {};
  const all: Stream[] = [];
  const attended = stage.attend({
    ...command,
    onStarting() {
      // Loaded while the program starts, and synchronously: nothing may run in between.
      const { openRedaction } =
        require("../../redaction/stream.ts") as typeof import("../../redaction/stream.ts");
      redaction = openRedaction(secrets);
      for (const descriptor of [1, 2] as const)
        all.push((streams[descriptor] = openStream(redaction, descriptor)));
    },
    onOutput: (descriptor, bytes) => streams[descriptor]!.redactor.push(bytes),
    show: () => all.forEach(({ queue }) => void queue.flush()),
    onExit: () => (isOver = true),
    async flush() {
      for (const { redactor } of all) void (isOver ? redactor.end() : redactor.release());
      await Promise.all(all.map(async ({ queue }) => await queue.flush()));
    },
  });
  try {
    if (typeof attended === "string") return attended;
    forwarder?.forwardTo(attended);
    const { code, signal } = await attended.done;
    const [received] = await Promise.all([forwarder?.close(), next === "replacement" && trees.prepareExec()]);
    if (signal) return { signal: signal as NodeJS.Signals };
    if (isIncomplete && code === 0) return 1;
    return received && code === 0 && next !== "end" ? { signal: received } : code;
  } finally {
    for (const signal of handledSignals) process.off(signal, onSignal);
    redaction?.zero();
  }
}
