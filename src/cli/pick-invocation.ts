// Turns a picked script into an invocation, and prompts to start the picker.
import { host } from "../../platform/processes/process.ts";
import { OPTIONS } from "../options/options.ts";
import { type Invocation, UsageError } from "../options/parse.ts";
import type { RunOutcome } from "../runner/outcome.ts";
import { quoteArgument } from "../shell-quoting.ts";
import { oneLine } from "../printable.ts";
import { report } from "../output.ts";

/** The exit code of a shell for a process that Ctrl-C ended. */
const CANCELLED = 130;

/** Returns true if the picker can run: it reads standard input and draws on standard error. */
export function canPick(): boolean {
  return host.isTerminal(0) && host.isTerminal(2);
}

/** Rejects a picker without a terminal that was given a script, which a list of scripts would not run. @throws UsageError */
export function refuseUnpicked({ target }: Invocation): void {
  if (target !== undefined)
    throw new UsageError("--pick needs a terminal", `run the script: rt run ${quoteArgument(target)}`);
}

/**
 * Runs the picker. Returns the picked invocation, or the outcome if the user cancelled.
 *
 * @param cwd the working directory after --cwd was applied
 * @throws UsageError, UserError
 */
export async function pickInvocation(
  { options, target, args }: Invocation,
  cwd: string,
): Promise<{ readonly invocation: Invocation } | { readonly outcome: RunOutcome }> {
  const other = options.find(({ option, isConfigured }) => option.many === "packages" && !isConfigured);
  if (other)
    throw new UsageError(
      `--pick cannot be used with --${other.option.name}`,
      `remove --${other.option.name}; --pick shows the scripts of all packages`,
    );
  const { pickScript } = await import("./picker/pick.ts");
  const words = target === undefined ? [] : [target, ...args];
  const picked = await pickScript(cwd, words.join(" "), (word) => oneLine(quoteArgument(word)));
  if (picked === "nothing")
    throw new UsageError("No scripts to pick from", 'add "scripts" to the package.json of this folder');
  if (picked === "left") return { outcome: CANCELLED };
  if ("signal" in picked) return { outcome: picked };
  const otherOptions = options.filter(({ option }) => option.name !== "pick" && option.name !== "cwd");
  const filter = OPTIONS.find(({ name }) => name === "filter")!;
  return {
    invocation: {
      command: "run",
      options:
        picked.selector === undefined
          ? otherOptions
          : [...otherOptions, { option: filter, value: picked.selector }],
      target: picked.scriptName,
      args: picked.args,
    },
  };
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Prompts after the script list whether to start the picker. Returns true for Enter, false for any other key, or the signal that
 * interrupted the prompt. Restores the terminal mode. Returns false without a prompt in CI and without a usable terminal.
 */
export async function isPickWanted(): Promise<boolean | { readonly signal: NodeJS.Signals }> {
  const variable = host.originalVariable;
  if (!canPick() || !host.isTerminal(1) || variable("CI") || variable("TERM") === "dumb") return false;
  report("\nPress Enter to pick a script, any other key to exit ");
  const { stdin } = process;
  const response = Promise.withResolvers<string | { readonly signal: NodeJS.Signals }>();
  const onSignal = (signal: NodeJS.Signals) => response.resolve({ signal });
  for (const signal of SIGNALS) process.on(signal, onSignal);
  stdin.setRawMode(true);
  stdin.once("data", (bytes: Buffer) => response.resolve(bytes.toString("latin1")));
  // The terminal may disconnect.
  for (const event of ["end", "close", "error"]) stdin.once(event, () => response.resolve(""));
  stdin.resume();
  const answer = await response.promise;
  stdin.removeAllListeners();
  stdin.setRawMode(false);
  stdin.pause().unref(); // otherwise it keeps the event loop alive
  for (const signal of SIGNALS) process.off(signal, onSignal);
  report("\n");
  return typeof answer === "string" ? answer === "\r" || answer === "\n" : answer;
}
