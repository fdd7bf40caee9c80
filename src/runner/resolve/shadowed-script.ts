// A built-in command wins over a script of the same name; people who meant the script are told how to run it. A script
// `"test": "rt test"` means the command: neither it nor who types the same words is told anything.
import { host } from "../../../platform/processes/process.ts";
import { findPackageJson, scriptOf } from "../../workspace/package-json.ts";
import { reportLine } from "../../output.ts";

/** Names that package managers run as scripts by themselves: having one says nothing about what was meant. */
const LIFECYCLE = new Set(["install", "publish", "pack"]);

export function hintAtShadowedScript(command: string, cwd: string): void {
  if (LIFECYCLE.has(command)) return;
  if (host.originalVariable("npm_lifecycle_event") === command) return;
  const located = findPackageJson(cwd);
  const script = located && scriptOf(located.manifest, command);
  if (script === null || [`rt ${command}`, `bun ${command}`].includes(script.trim())) return;
  reportLine(`hint: this is rt's own "${command}"; the script of that name runs with: rt run ${command}`);
}
