// Prints a hint if a built-in command shadows a script of the same name. No hint if the script runs that command,
// or for lifecycle names.
import { host } from "../../../platform/processes/process.ts";
import { findPackageJson, scriptOf } from "../../workspace/package-json.ts";
import { reportLine } from "../../output.ts";

/** Names that package managers run as lifecycle scripts, so the user probably meant the command. */
const LIFECYCLE = new Set(["install", "publish", "pack"]);

export function hintAtShadowedScript(command: string, cwd: string): void {
  if (LIFECYCLE.has(command)) return;
  if (host.originalVariable("npm_lifecycle_event") === command) return;
  const located = findPackageJson(cwd);
  const script = located && scriptOf(located.manifest, command);
  if (script === null || [`rt ${command}`, `bun ${command}`].includes(script.trim())) return;
  reportLine(`hint: this is rt's own "${command}"; the script of that name runs with: rt run ${command}`);
}
