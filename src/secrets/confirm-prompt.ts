// Asks a yes/no question of `rt secrets` on the terminal.
import { host } from "../../platform/processes/process.ts";
import { isTerminal } from "./streams.ts";
import { ArgumentError } from "./command-arguments.ts";
import { report } from "../output.ts";

/**
 * Returns true for "y" or "yes" only.
 * @param consequence ends the error message if standard input or standard error is not a terminal
 * @throws ArgumentError without a terminal
 */
export async function confirm(question: string, consequence: string): Promise<boolean> {
  if (!(await isTerminal(0)) || !(await isTerminal(2)))
    throw new ArgumentError(
      `Cannot ask without a terminal, so ${consequence}`,
      "use --yes to skip the question",
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
