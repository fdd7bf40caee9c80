// The plan for `rt run <script> [args]` and `rt <script>`, without options, made with as few operations as it
// takes. It is the same plan that plan.ts would make, or none: test/cli/shortcut.test.ts compares the two in a table of
// cases.
//
// Worth: without it and script-start.ts a start of `rt run hello` takes a sixth more processor time (bench: "rt run
// hello", with this function's answer left out). Should that fall under a twentieth, both files go.
//
// Surprising: parsing, resolving and planning cost less by what they do than by how many functions they are, since
// each costs a hundredth of a millisecond when it is first called.
import { files } from "../../../platform/files/files.ts";
import { mentionsInConfig } from "../../config/config-file-name.ts";
import { findPackageJson, parentDirectory, scriptOf } from "../../workspace/package-json.ts";
import type { ExecutionPlan } from "../plan.ts";
import { isExplicitPath } from "../resolve/target.ts";
import { extensionOf, SOURCE_EXTENSIONS } from "../../source-extensions.ts";

/**
 * @param words behind `rt`, or behind `run`
 * @param explicitRun whether `run` was written. Throws PackageJsonError.
 */
export function planScriptShortcut(
  words: readonly string[],
  explicitRun: boolean,
): Extract<ExecutionPlan, { mode: "script" }> | undefined {
  const name = words[0];
  if (name === undefined || name[0] === "-" || isExplicitPath(name)) return undefined;
  if (!explicitRun && SOURCE_EXTENSIONS.includes(extensionOf(name))) return undefined;
  const cwd = process.cwd();
  if (files.readFile(`${cwd}/rtfig.toml`, 1) !== "ENOENT") return undefined;
  const located = findPackageJson(cwd);
  if (!located || scriptOf(located.manifest, name) === null) return undefined;
  // Of the working directory it is known.
  const next = located.directory === cwd ? parentDirectory(cwd) : located.directory;
  if (next !== null && mentionsInConfig(next, "secrets", "cache")) return undefined;
  return {
    mode: "script",
    target: { kind: "script", name, package: located },
    args: words.slice(words[1] === "--" ? 2 : 1),
  };
}
