// What keeps the secrets of a run out of what all of its scripts show, of those too that are not given them: what one has from
// the environment, or from a file of another's, it may show as well.
//
// Contract: in a watched run a script that starts again may get another value than before, while others run on with the old one,
// and each may pass its own to the other. So nobody's output has either of them, neither of what has started already.
import { host } from "../../../platform/processes/process.ts";
import type { ChildExit } from "../../../platform/processes/contract/process-tree.ts";
import type { SecretValue } from "../../redaction/secret-value.ts";
import type { Deliver, RedactedOutput } from "../../redaction/stream.ts";
import type { Hide } from "../../redaction/text.ts";
import type { ShellCommand } from "../script/shell.ts";

export interface RunRedaction {
  readonly redact: (deliver: Deliver) => RedactedOutput;
  /** A text of rt's own with names in place of values. */
  readonly hide: Hide;
  /** Undefined where nothing is to be kept out. */
  attend(command: ShellCommand, directory: string): (() => Promise<ChildExit>) | undefined;
  /** These are all secrets now. Throws Failure as `loadAttending` does. */
  learn(secrets: readonly SecretValue[]): void;
}

/**
 * Loaded before anything starts, since what starts does so at once.
 * @param first secrets of all scripts of the run. Throws Failure where a value cannot be kept out of what is shown.
 */
export async function createRunRedaction(first: readonly SecretValue[]): Promise<RunRedaction> {
  const [
    { startRedacted: attend },
    { planAttendance },
    { openOutput },
    { hasRedacted, refuseShort },
    { hideValues },
  ] = await Promise.all([
    import("../script/redacted-process.ts"),
    import("../script/stdio-strategy.ts"),
    import("../../redaction/stream.ts"),
    import("../../redaction/minimum-length.ts"),
    import("../../redaction/text.ts"),
  ]);
  const open = new Set<ReturnType<typeof openOutput>>();
  let secrets: readonly SecretValue[] = [];
  const attending: RunRedaction = {
    redact(deliver) {
      const output = openOutput(secrets, deliver, host.isTerminal(1) || host.isTerminal(2));
      open.add(output);
      return {
        push: output.push,
        async end() {
          open.delete(output);
          await output.end();
        },
      };
    },
    hide: (text, hasArguments) => hideValues(text, secrets, hasArguments),
    attend(command, directory) {
      const way = planAttendance(hasRedacted(secrets));
      if (way.way === "become") return undefined;
      return async () => {
        process.chdir(directory); // a run that gives its only script the terminal has no other
        const ending = await attend(command, way, secrets, "end");
        if (typeof ending === "string") throw Object.assign(new Error(ending), { code: ending });
        if (typeof ending === "number") return { code: ending, signal: null };
        return { code: 1, signal: ending.signal };
      };
    },
    learn(known) {
      refuseShort(known);
      const isMore = known.length > secrets.length;
      secrets = [...known];
      if (isMore) for (const output of open) output.learn(secrets);
    },
  };
  attending.learn(first);
  return attending;
}

/** Whether it is the same in each respect. */
export function isSameValue(one: SecretValue, other: SecretValue): boolean {
  return (
    one.name === other.name &&
    one.isRedacted === other.isRedacted &&
    Buffer.compare(one.value, other.value) === 0
  );
}
