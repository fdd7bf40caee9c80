// A built-in command wins over a script of the same name; people who meant the script are told how to run it.
import { findPackageJson, scriptOf } from "../workspace/package-json.ts";

/** Names that package managers run as scripts by themselves: having one says nothing about what was meant. */
const LIFECYCLE = new Set(["install", "publish", "pack"]);

export function hintAtShadowedScript(command: string, cwd: string): void {
  if (LIFECYCLE.has(command)) return;
  const located = findPackageJson(cwd);
  if (!located || scriptOf(located.manifest, command) === null) return;
  console.error(`hint: this is rt's own "${command}"; the script of that name runs with: rt run ${command}`);
}
