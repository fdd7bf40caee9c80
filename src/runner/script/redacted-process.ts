// A program that gets secrets, with rt between it and what shows its output, so that no value is to be seen.
// Where it then stands, stdio-strategy.ts says.
//
// Contract: exit code, signals and terminal are as of a program that rt becomes; docs/secrets-in-scripts.md says what is not.
// Nothing is held back at the end, and nothing of a value is kept after it. A reader that has gone is gone for the program
// too. Where output could not be written, the run is a failure.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import { terminals } from "../../../platform/terminal/terminal.ts";
import type { PreparedTerminal } from "../../../platform/terminal/contract/terminal.ts";
import type { ReplaceRequest } from "../../../platform/processes/contract/process.ts";
import { hasRedacted, refuseShort } from "../../redaction/minimum-length.ts";
import type { SecretValue } from "../../redaction/secret-value.ts";
import type { Redaction, Redactor } from "../../redaction/stream.ts";
import { OutputQueue } from "../../tasks/output-queue.ts";
import { planAttendance, type StdioStrategy } from "./stdio-strategy.ts";
import { openSignalForwarder } from "./signal-forwarding.ts";
import type { ExitStatus, Next } from "./step-wait.ts";

/**
 * Undefined where nothing is to be kept out, and the program is to be started as without secrets; the system's code where it
 * cannot be started. Throws Failure where a value cannot be kept out.
 * @param early is closed where it is not needed
 */
export async function startRedactedIfNeeded(
  command: ReplaceRequest,
  secrets: readonly SecretValue[],
  next: Next,
  early?: PreparedTerminal,
): Promise<ExitStatus | string | undefined> {
  const way = planAttendance(hasRedacted(secrets));
  if (way.way !== "terminal") early?.close();
  return way.way === "become" ? undefined : await startRedacted(command, way, secrets, next, early);
}

interface Stream {
  readonly queue: OutputQueue;
  readonly redactor: Redactor;
}

const ENDING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export async function startRedacted(
  command: ReplaceRequest,
  { way, places }: Exclude<StdioStrategy, { way: "become" }>,
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
  const passage = way === "pipes" ? openSignalForwarder() : undefined;
  // Nobody is left to be told but rt, which may be waiting for a reader.
  const hear = () => isOver && all.forEach(({ queue }) => queue.hurry());
  const heard = host.handledSignals(ENDING);
  for (const signal of heard) process.on(signal, hear);
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
      // Loaded beside the program's own start, and at once: nothing may come in between.
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
    passage?.leadTo(attended);
    const { code, signal } = await attended.done;
    const [received] = await Promise.all([passage?.close(), next === "replacement" && trees.prepareExec()]);
    if (signal) return { signal: signal as NodeJS.Signals };
    if (isIncomplete && code === 0) return 1;
    return received && code === 0 && next !== "end" ? { signal: received } : code;
  } finally {
    for (const signal of heard) process.off(signal, hear);
    redaction?.zero();
  }
}
