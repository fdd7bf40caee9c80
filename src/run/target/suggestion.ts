// What to try instead of a target that is not there.
import { readdirSync } from "node:fs";
import { binaryDirectories } from "./binaries.ts";
import { nearest } from "../../nearest.ts";
import { findPackageJson, isMisdeclaredScript, scriptNames } from "../../workspace/package-json.ts";
import { COMMANDS } from "../../options/commands.ts";

/** @param explicitRun whether `run` was written, behind which there are no commands of rt's */
export function suggestTarget(name: string, cwd: string, explicitRun: boolean): string | undefined {
  const located = findPackageJson(cwd);
  const scripts = located ? scriptNames(located.manifest) : [];
  if (located && isMisdeclaredScript(located.manifest, name))
    return `package.json has "${name}", but not as a string; write the command as a string`;
  const commands = explicitRun ? [] : Object.keys(COMMANDS).filter((command) => command.length > 2);
  const binaries = binaryDirectories(cwd).flatMap(namesIn);
  for (const known of [scripts, commands, binaries]) {
    const [similar] = nearest(name, known);
    if (similar) return `did you mean "${similar}"?`;
  }
  if (/[\n;(){}=]/.test(name)) return "code is run by: rt -e <code>";
  if (/[\\/.]/.test(name)) return undefined;
  return scripts.length > 0 ? "`rt run` lists the scripts" : "there are no scripts in package.json";
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
