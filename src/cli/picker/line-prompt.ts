// Implements the picker as line-by-line questions for screen readers (ACCESSIBLE=1) and terminals without cursor control
// (TERM=dumb). It never overwrites output.
import { createInterface, type Interface } from "node:readline/promises";
import type { PickerResult, PromptOptions } from "./prompt.ts";
import { search } from "./search.ts";
import { splitLine } from "./argument-splitter.ts";
import { report } from "../../output.ts";

const MAX_LISTED_CHOICES = 20;

/** Returns undefined if the user cancelled. */
export async function askInLines({
  choices,
  initialSearch,
  describe,
}: PromptOptions): Promise<PickerResult | undefined> {
  const questions = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  // The iterator buffers lines that arrive before the question; question() would drop them.
  const lines = questions[Symbol.asyncIterator]();
  const ask = async (text: string) => {
    report(text);
    const { value, done } = await lines.next();
    return done ? undefined : value.trim();
  };
  try {
    let matches = search(choices, initialSearch);
    for (;;) {
      const shown = matches.slice(0, MAX_LISTED_CHOICES);
      for (const [index, { label, command }] of shown.entries())
        report(`${index + 1}. ${label}: ${command}\n`);
      if (matches.length > shown.length) report(`And ${matches.length - shown.length} more\n`);
      if (matches.length === 0) report("No script matches\n");
      const input = await ask("Number or part of a script's name (empty to exit): ");
      if (!input) return undefined;
      const choice = /^\d+$/.test(input) ? shown[Number(input) - 1] : undefined;
      if (!choice) {
        matches = search(choices, input);
        continue;
      }
      const args = await askArguments(ask, choice.args);
      if (args === undefined) return undefined;
      const answer = { choice, args };
      report(`${describe(answer)}\n`);
      return answer;
    }
  } finally {
    close(questions);
  }
}

async function askArguments(
  ask: (text: string) => Promise<string | undefined>,
  last: string,
): Promise<string | undefined> {
  const previous = last === "" ? "" : `last time: ${last}; `;
  for (;;) {
    const input = await ask(`Arguments (${previous}empty for none): `);
    if (input === undefined || splitLine(input)) return input;
    report("Unclosed quote\n");
  }
}

function close(questions: Interface): void {
  questions.close();
  // A script that runs in this process must be able to exit: stdin would keep the event loop alive.
  process.stdin.pause().unref();
}
