// Redacts the secrets of a run in the output of all its scripts, including scripts that do not get them. Such a script may read a
// value from the environment or from another script's file.
//
// Invariants: in a watched run, a restarted script may get a new value while others run with the old one. Both are redacted in
// all output, also of scripts that already run.
import { host } from "../../../../platform/processes/process.ts";
import type { ChildExit } from "../../../../platform/processes/contract/process-tree.ts";
import type { SecretValue } from "../../../redaction/secret-value.ts";
import type { Deliver, RedactedOutput } from "../../../redaction/stream.ts";
import type { Hide } from "../../../redaction/text.ts";
import type { ShellCommand } from "../../script/shell.ts";

export interface RunRedaction {
  readonly redact: (deliver: Deliver) => RedactedOutput;
  /** Replaces secret values by their names in rt's own text. */
  readonly hide: Hide;
  /** Undefined if nothing has to be redacted. */
  attend(command: ShellCommand, directory: string): (() => Promise<ChildExit>) | undefined;
  /** Replaces the set of secrets. @throws UserError like `createRunRedaction` */
  setSecrets(secrets: readonly SecretValue[]): void;
}

/**
 * Loads all modules in advance, because a process starts synchronously.
 * @param first secrets of all scripts of the run @throws UserError if a value cannot be redacted
 */
export async function createRunRedaction(first: readonly SecretValue[]): Promise<RunRedaction> {
  const [
    { startRedacted: attend },
    { chooseForProcess },
    { openOutput },
    { hasRedacted, refuseShort },
    { hideValues },
  ] = await Promise.all([
    import("../../script/redacted-process.ts"),
    import("../../script/stdio-strategy.ts"),
    import("../../../redaction/stream.ts"),
    import("../../../redaction/minimum-length.ts"),
    import("../../../redaction/text.ts"),
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
      const strategy = chooseForProcess(hasRedacted(secrets));
      if (strategy.kind === "exec") return undefined;
      return async () => {
        process.chdir(directory); // only a run with a single script inherits the terminal
        const ending = await attend(command, strategy, secrets, "end");
        if (typeof ending === "string") throw Object.assign(new Error(ending), { code: ending });
        if (typeof ending === "number") return { code: ending, signal: null };
        return { code: 1, signal: ending.signal };
      };
    },
    setSecrets(known) {
      refuseShort(known);
      const isMore = known.length > secrets.length;
      secrets = [...known];
      if (isMore) for (const output of open) output.learn(secrets);
    },
  };
  attending.setSecrets(first);
  return attending;
}

/** Whether name, redaction and value are equal. */
export function isSameValue(one: SecretValue, other: SecretValue): boolean {
  return (
    one.name === other.name &&
    one.isRedacted === other.isRedacted &&
    Buffer.compare(one.value, other.value) === 0
  );
}
