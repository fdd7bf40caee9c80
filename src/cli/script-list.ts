// Lists the scripts of the nearest package.json with their commands and a count, for `rt run` without a target.
import { host } from "../../platform/processes/process.ts";
import { wantsColor } from "../color.ts";
import { oneLine } from "../printable.ts";
import { findPackageJson, scriptNames, scriptOf } from "../workspace/package-json.ts";
import { quoteArgument } from "../shell-quoting.ts";
import { UsageError } from "../options/parse.ts";

export function listScripts(cwd: string): string {
  const located = findPackageJson(cwd);
  if (!located)
    throw new UsageError(
      "No package.json in this folder or its parents",
      "pass a file to run, or see rt --help",
    );
  const { manifest } = located;
  const names = scriptNames(manifest);
  const useColor = wantsColor(host.originalVariable, () => host.isTerminal(1));
  const bold = (text: string) => (useColor ? `\x1b[1m${text}\x1b[0m` : text);
  const entries = names.map((name) => {
    const separator = name.startsWith("-") ? "-- " : "";
    return `  $ rt run ${separator}${bold(oneLine(quoteArgument(name)))}\n    ${oneLine(scriptOf(manifest, name) ?? "")}\n`;
  });
  return [`${bold("package.json scripts")} (${names.length} found):`, ...entries].join("\n").trimEnd();
}
