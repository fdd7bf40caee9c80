// Prints one script as if it ran directly in the terminal. Its bytes are unchanged and each stream goes to its own
// descriptor. The command of each step is printed to stderr.
import { colorLabel } from "../../output.ts";
import { oneLine } from "../../printable.ts";
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import { describeOutcome, describeSaved } from "../../tasks/labels.ts";

export interface PlainOptions {
  readonly queue: OutputQueue;
  readonly useColor: boolean;
  readonly silent: boolean;
}

export function createPlainReporter({ queue, useColor, silent }: PlainOptions): Reporter {
  const dim = (text: string) => (useColor ? `\x1b[2m${text}\x1b[0m` : text);
  const say = (text: string) => void queue.write(2, `${text}\n`);
  return {
    report(event: TaskEvent): void | Promise<void> {
      switch (event.type) {
        case "step-start": {
          if (silent) return;
          const args = event.step.isMain ? event.task.args : [];
          const line = [event.step.command, ...args].join(" ");
          const command = oneLine(event.hide?.(line, args.length > 0) ?? line);
          return say(useColor ? `\x1b[0;35m$\x1b[0m \x1b[2m\x1b[1m${command}\x1b[0m` : `$ ${command}`);
        }
        case "output":
          return queue.write(event.isError ? 2 : 1, event.bytes);
        case "step-end": {
          if (silent) return;
          if (event.saved !== undefined) return say(dim(describeSaved(event.saved)));
          const { exit, step } = event;
          if (step.isMain || (exit.signal === null && exit.code === 0)) return;
          const name = oneLine(step.scriptName);
          if (exit.signal === null) say(`error: script "${name}" exited with code ${exit.code}`);
          else if (exit.signal !== "SIGINT")
            say(`error: script "${name}" was terminated by signal ${exit.signal}`);
          return;
        }
        case "task-end": {
          const { outcome } = event;
          const isExplained = outcome.kind === "failure" && (outcome.timeout ?? outcome.reason) !== undefined;
          if (isExplained || outcome.kind === "unstartable") say(`error: ${describeOutcome(outcome)}`);
          return;
        }
        case "notice":
          return say(colorLabel(`warning: ${oneLine(event.message)}`));
        case "remark":
          return say(event.line);
        case "ready":
        case "again":
        case "interrupt":
        case "suspend":
        case "resume":
          return;
      }
    },
    finish() {},
  };
}
