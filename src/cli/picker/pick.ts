// Implements `rt run --pick`: prompts for a script and its arguments.
import { host } from "../../../platform/processes/process.ts";
import { wantsColor } from "../../color.ts";
import { findChoices } from "./choices.ts";
import { readHistory, remember } from "./history.ts";
import { askInLines } from "./line-prompt.ts";
import { type PickerResult, askOnTerminal, type PromptOptions } from "./prompt.ts";
import { splitLine } from "./argument-splitter.ts";
import { report } from "../../output.ts";

export interface Selected {
  readonly scriptName: string;
  readonly args: readonly string[];
  /** Value for --filter; undefined for the nearest package. */
  readonly selector: string | undefined;
}

export type Pick = Selected | "left" | "nothing" | { readonly signal: NodeJS.Signals };

/**
 * Returns the selected script, "nothing" without scripts, "left" if the user cancelled, or the signal that interrupted the prompt.
 *
 * @param quote quotes a word for a shell
 * @throws UserError, PackageJsonError
 */
export async function pickScript(
  cwd: string,
  initialSearch: string,
  quote: (word: string) => string,
): Promise<Pick> {
  const found = findChoices(cwd);
  const choices = found?.order(readHistory(found.root)) ?? [];
  if (!found || choices.length === 0) return "nothing";
  const variable = host.originalVariable;
  const options: PromptOptions = {
    choices,
    initialSearch,
    useColor: wantsColor(variable, () => true),
    describe: (answer) => describeLine(answer, quote),
  };
  const isPlain = isSet(variable("ACCESSIBLE")) || variable("TERM") === "dumb";
  const answer = await (isPlain ? askInLines(options) : askOnTerminal(options));
  if (answer === undefined) return "left";
  if (typeof answer === "string") return { signal: answer };
  const { choice, args } = answer;
  remember(found.root, { directory: choice.directory, scriptName: choice.scriptName, args });
  if (!isPlain) report(`$ ${options.describe(answer)}\n`);
  return { scriptName: choice.scriptName, args: splitLine(args) ?? [], selector: choice.selector };
}

/** Returns the equivalent command line. */
function describeLine({ choice, args }: PickerResult, quote: (word: string) => string): string {
  const { selector, scriptName } = choice;
  const filter = selector === undefined ? [] : ["--filter", quote(selector)];
  const name = scriptName.startsWith("-") ? ["--", quote(scriptName)] : [quote(scriptName)];
  // A quote may be unclosed while the user types.
  const words = splitLine(args)?.map(quote) ?? [args.trim()];
  return ["rt run", ...filter, ...name, ...words].join(" ");
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}
