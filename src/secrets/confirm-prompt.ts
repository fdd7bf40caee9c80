// A question that a person answers with yes or no on the terminal.
import { host } from "../../platform/processes/process.ts";
import { isTerminal } from "./streams.ts";
import { ArgumentError } from "./command-arguments.ts";
import { report } from "../output.ts";

/** False for anything but yes. Throws WordsError where nobody can be asked: `consequence` says what that means. */
export async function confirm(question: string, consequence: string): Promise<boolean> {
  if (!(await isTerminal(0)) || !(await isTerminal(2)))
    throw new ArgumentError(
      `There is no terminal to ask on, so ${consequence}`,
      "--yes does it without a question",
    );
  host.dropInput();
  report(`${question} [y/N] `);
  let answer = "";
  for await (const chunk of Bun.stdin.stream()) {
    answer += new TextDecoder().decode(chunk);
    if (answer.includes("\n")) break;
  }
  return /^\s*y(?:es)?\s*$/i.test(answer);
}
