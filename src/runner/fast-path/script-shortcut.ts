// Fast path that plans `rt run <script> [args]` and `rt <script>` without options. It returns the plan of plan.ts,
// or undefined; test/cli/shortcut.test.ts compares both for a table of cases.
//
// Non-obvious:
// - Without it and script-start.ts `rt run hello` takes a sixth more processor time (bench). Remove both if that
//   falls below a twentieth.
// - The cost is in the number of functions: the first call of each takes a hundredth of a millisecond.
import { files } from "../../../platform/files/files.ts";
import { mentionsInConfig, ROOT_SETTINGS } from "../../config/config-file-name.ts";
import { findPackageJson, parentDirectory, scriptOf } from "../../workspace/package-json.ts";
import type { ScriptPlan } from "../plan.ts";
import { isExplicitPath } from "../resolve/target.ts";
import { extensionOf, SOURCE_EXTENSIONS } from "../../source-extensions.ts";

/**
 * @param words after `rt` or `run`
 * @param explicitRun whether `run` was given @throws PackageJsonError
 */
export function planScriptShortcut(words: readonly string[], explicitRun: boolean): ScriptPlan | undefined {
  const name = words[0];
  if (name === undefined || name[0] === "-" || isExplicitPath(name)) return undefined;
  if (!explicitRun && SOURCE_EXTENSIONS.includes(extensionOf(name))) return undefined;
  const cwd = process.cwd();
  if (files.readFile(`${cwd}/rtfig.toml`, 1) !== "ENOENT") return undefined;
  const located = findPackageJson(cwd);
  if (!located || scriptOf(located.manifest, name) === null) return undefined;
  // The working directory has been checked above.
  const next = located.directory === cwd ? parentDirectory(cwd) : located.directory;
  if (next !== null && mentionsInConfig(next, "secrets", ...ROOT_SETTINGS)) return undefined;
  return {
    mode: "script",
    target: { kind: "script", name, package: located },
    args: words.slice(words[1] === "--" ? 2 : 1),
  };
}
