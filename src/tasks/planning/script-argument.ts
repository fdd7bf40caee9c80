// Describes an argument of a run without [tasks] that is also a script, as in `rt run --filter '*' build test`.
import { oneLine } from "../../printable.ts";
import { type PackageJson, scriptOf } from "../../workspace/package-json.ts";
import type { TaskRequest } from "../task.ts";

export function beforeSeparator(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end < 0 ? args : args.slice(0, end);
}

/** Returns the notice about the first such argument. @param manifests of the selected packages */
export function describeScriptArgument(
  { scripts, args, isSeparated, parallel, sequential }: TaskRequest,
  manifests: readonly PackageJson[],
): string | undefined {
  if (parallel || sequential || isSeparated) return undefined;
  const word = beforeSeparator(args).find((each) =>
    manifests.some((manifest) => scriptOf(manifest, each) !== null),
  );
  return word === undefined
    ? undefined
    : `"${oneLine(word)}" is an argument of "${oneLine(scripts[0] ?? "")}" here, but also a script; ` +
        "to run both, use [tasks] (rt help tasks); else put -- before arguments";
}
