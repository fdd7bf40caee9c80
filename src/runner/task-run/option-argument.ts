// Describes an argument of a task that is also an option of runs of many scripts.
import type { ManySettings } from "../../config/settings/many.ts";
import { OPTIONS } from "../../options/options.ts";
import { oneLine } from "../../printable.ts";

/** Returns the notice about the first such argument. */
export function describeOptionArgument({ scripts, args, isSeparated }: ManySettings): string | undefined {
  if (isSeparated) return undefined;
  const end = args.indexOf("--");
  const word = (end < 0 ? args : args.slice(0, end)).find(isOptionOfMany);
  return (
    word &&
    `"${oneLine(word)}" is an argument of "${oneLine(scripts[0] ?? "")}" here; write options of rt before the task, or put -- before arguments`
  );
}

function isOptionOfMany(word: string): boolean {
  const name = /^--([^=]+)/.exec(word)?.[1] ?? (word === "-F" ? "filter" : undefined);
  return OPTIONS.some((option) => option.name === name && option.many);
}
