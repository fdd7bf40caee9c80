// From a script that was picked to the command line that runs it, and the offer to pick one.
import { host } from "../../platform/processes/process.ts";
import { OPTIONS } from "../options/options.ts";
import { type Invocation, UsageError } from "../options/parse.ts";
import type { RunOutcome } from "../runner/outcome.ts";
import { quoteArgument } from "../shell-quoting.ts";
import { oneLine } from "../printable.ts";
import { report } from "../output.ts";

/** As a shell shows what Ctrl-C has ended. */
const CANCELLED = 130;

/** Whether somebody is there to pick: what is drawn goes to standard error. */
export function canPick(): boolean {
  return host.isTerminal(0) && host.isTerminal(2);
}

/**
 * The invocation that was picked, or how it ended without one. Throws UsageError, Failure.
 *
 * @param cwd the working directory by now: --cwd has been carried out
 */
export async function pickInvocation(
  { options, target, args }: Invocation,
  cwd: string,
): Promise<{ readonly invocation: Invocation } | { readonly outcome: RunOutcome }> {
  const other = options.find(({ option, isConfigured }) => option.many === "packages" && !isConfigured);
  if (other)
    throw new UsageError(
      `--pick and --${other.option.name} exclude each other`,
      "--pick shows the scripts of all packages",
    );
  const { pickScript } = await import("./picker/pick.ts");
  const words = target === undefined ? [] : [target, ...args];
  const picked = await pickScript(cwd, words.join(" "), (word) => oneLine(quoteArgument(word)));
  if (picked === "nothing")
    throw new UsageError("There is no script to pick", "write one into the package.json of this folder");
  if (picked === "left") return { outcome: CANCELLED };
  if ("signal" in picked) return { outcome: picked };
  const kept = options.filter(({ option }) => option.name !== "pick" && option.name !== "cwd");
  const filter = OPTIONS.find(({ name }) => name === "filter")!;
  return {
    invocation: {
      command: "run",
      options: picked.selector === undefined ? kept : [...kept, { option: filter, value: picked.selector }],
      target: picked.scriptName,
      args: picked.args,
    },
  };
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Whether Enter was pressed at the question behind a list; a signal where that ended it, with the terminal as it was. Nothing
 * is asked where that would only be in the way.
 */
export async function isPickWanted(): Promise<boolean | { readonly signal: NodeJS.Signals }> {
  const variable = host.originalVariable;
  if (!canPick() || !host.isTerminal(1) || variable("CI") || variable("TERM") === "dumb") return false;
  report("\nEnter picks one of them, any other key leaves ");
  const { stdin } = process;
  const heard = Promise.withResolvers<string | { readonly signal: NodeJS.Signals }>();
  const hear = (signal: NodeJS.Signals) => heard.resolve({ signal });
  for (const signal of SIGNALS) process.on(signal, hear);
  stdin.setRawMode(true);
  stdin.once("data", (bytes: Buffer) => heard.resolve(bytes.toString("latin1")));
  // The terminal may go away.
  for (const event of ["end", "close", "error"]) stdin.once(event, () => heard.resolve(""));
  stdin.resume();
  const answer = await heard.promise;
  stdin.removeAllListeners();
  stdin.setRawMode(false);
  stdin.pause().unref(); // nothing else keeps rt from ending
  for (const signal of SIGNALS) process.off(signal, hear);
  report("\n");
  return typeof answer === "string" ? answer === "\r" || answer === "\n" : answer;
}
