// The picker for who reads a screen with a program, or has a terminal that cannot be drawn on: questions and answers, line by
// line, and nothing is written over. ACCESSIBLE=1 asks for it, TERM=dumb needs it.
import { createInterface, type Interface } from "node:readline/promises";
import type { PickerResult, PromptOptions } from "./prompt.ts";
import { search } from "./search.ts";
import { splitLine } from "./argument-splitter.ts";
import { report } from "../../output.ts";

const MOST_SHOWN = 20;

/** Undefined when it was left without a choice. */
export async function askInLines({
  choices,
  initialSearch,
  describe,
}: PromptOptions): Promise<PickerResult | undefined> {
  const questions = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  // The answers that come before they are asked for are not lost.
  const lines = questions[Symbol.asyncIterator]();
  const ask = async (text: string) => {
    report(text);
    const { value, done } = await lines.next();
    return done ? undefined : (value as string).trim();
  };
  try {
    let found = search(choices, initialSearch);
    for (;;) {
      const shown = found.slice(0, MOST_SHOWN);
      for (const [index, { label, command }] of shown.entries())
        report(`${index + 1}. ${label}: ${command}\n`);
      if (found.length > shown.length) report(`And ${found.length - shown.length} more\n`);
      if (found.length === 0) report("No script is called so\n");
      const told = await ask("Number of a script, or a part of its name; empty to leave: ");
      if (!told) return undefined;
      const choice = /^\d+$/.test(told) ? shown[Number(told) - 1] : undefined;
      if (!choice) {
        found = search(choices, told);
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
  const before = last === "" ? "" : `, last time ${last}`;
  for (;;) {
    const told = await ask(`Arguments${before}; empty for none: `);
    if (told === undefined || splitLine(told)) return told;
    report("A quote is not closed\n");
  }
}

function close(questions: Interface): void {
  questions.close();
  // What is not run by another process has to end by itself.
  process.stdin.pause().unref();
}
