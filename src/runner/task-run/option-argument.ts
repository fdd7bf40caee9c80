// Describes an argument of a task that is also an option of runs of many scripts.
import type { ManySettings } from "../../config/settings/many.ts";
import { OPTIONS } from "../../options/options.ts";
import { oneLine } from "../../printable.ts";
import { beforeSeparator } from "../../tasks/planning/script-argument.ts";

/** Returns the notice about the first such argument. */
export function describeOptionArgument({ scripts, args, isSeparated }: ManySettings): string | undefined {
  if (isSeparated) return undefined;
  const word = beforeSeparator(args).find(isOptionOfMany);
  return (
    word &&
    `"${oneLine(word)}" is an argument of "${oneLine(scripts[0] ?? "")}" here; write options of rt before the task, or put -- before arguments`
  );
}

function isOptionOfMany(word: string): boolean {
  const name = /^--([^=]+)/.exec(word)?.[1] ?? (word === "-F" ? "filter" : undefined);
  return OPTIONS.some((option) => option.name === name && option.many);
}
