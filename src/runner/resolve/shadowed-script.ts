// Prints a hint if a built-in command shadows a script of the same name. No hint if the script runs that command,
// or for lifecycle names.
import { startLookupRecorder, stopLookupRecorder } from "../../../platform/files/lookup-recorder.ts";
import { host } from "../../../platform/processes/process.ts";
import { findPackageJson, scriptOf } from "../../workspace/package-json.ts";
import { reportLine } from "../../output.ts";

/** Names that package managers run as lifecycle scripts, so the user probably meant the command. */
const LIFECYCLE = new Set(["install", "publish", "pack"]);

export async function hintAtShadowedScript(command: string, cwd: string): Promise<void> {
  if (LIFECYCLE.has(command)) return;
  if (host.originalVariable("npm_lifecycle_event") === command) return;
  const begin = Date.now();
  const lookups = host.replaysStarts && command === "test" ? startLookupRecorder() : undefined;
  const located = findPackageJson(cwd);
  const script = located && scriptOf(located.manifest, command);
  stopLookupRecorder();
  if (script === null || [`rt ${command}`, `bun ${command}`].includes(script.trim())) {
    if (lookups) {
      const { writeStartMemo } = await import("../fast-path/start-memo.ts");
      writeStartMemo({ words: [command], lookups, begin });
    }
    return;
  }
  reportLine(`hint: this is rt's own "${command}"; the script of that name runs with: rt run ${command}`);
}
