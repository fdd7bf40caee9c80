// Suggests alternatives for a target that does not exist.
import { readdirSync } from "node:fs";
import { binaryDirectories } from "./bin-directories.ts";
import { suggestNames } from "../../did-you-mean.ts";
import {
  declaredScript,
  findPackageJson,
  isMisdeclaredScript,
  type PackageJson,
  scriptNames,
} from "../../workspace/package-json.ts";
import { commandForMembers } from "./member-scripts.ts";
import { COMMANDS } from "../../options/commands.ts";
import { OPTIONS } from "../../options/options.ts";

/** Without a dot, which suggests a file. */
const PACKAGE_NAME = /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w-]*$/;

/** Usual script names: a missing one was not meant as a package. */
const SCRIPT_NAMES = new Set(
  "start dev serve watch lint format types typecheck clean preview deploy release docs e2e ci".split(" "),
);

/** @param explicitRun whether `run` was given, after which built-in commands are not recognized */
export async function suggestTarget(
  name: string,
  cwd: string,
  explicitRun: boolean,
): Promise<string | undefined> {
  const located = findPackageJson(cwd);
  const scripts = located ? scriptNames(located.manifest) : [];
  if (located && isMisdeclaredScript(located.manifest, name))
    return `package.json has "${name}", but not as a string; write the command as a string`;
  if (located && declaredScript(located.manifest, name) === "")
    return `package.json has "${name}", but its command is empty`;
  // After a `--`, names are scripts only.
  if (!explicitRun && Object.hasOwn(COMMANDS, name))
    return `did you mean the command rt ${name}? remove the --`;
  const command = await commandForMembers(name, cwd);
  if (command !== undefined) return `other packages have it: ${command}`;
  const commands = explicitRun ? [] : Object.keys(COMMANDS).filter((command) => command.length > 2);
  const binaries = binaryDirectories(cwd).flatMap(namesIn);
  const isOption = !explicitRun && OPTIONS.some((option) => option.name === name);
  for (const known of isOption ? [scripts] : [scripts, commands, binaries]) {
    const [similar] = suggestNames(name, known);
    if (similar) return `did you mean "${similar}"?`;
  }
  if (isOption) return `did you mean the option --${name}?`;
  if (/[\n;(){}=]/.test(name)) return "to run code: rt -e <code>";
  const isPackage = PACKAGE_NAME.test(name);
  if (/[\\/.]/.test(name) && !isPackage) return undefined;
  if (located && isDependency(located.manifest, name))
    return `package.json names the package "${name}"; \`rt install\` installs it`;
  const list =
    scripts.length > 0
      ? "`rt run` lists the scripts"
      : located
        ? "package.json has no scripts"
        : "no package.json in this folder or above";
  const isSlip = suggestNames(name, Object.keys(COMMANDS)).length > 0;
  if (!isPackage || isSlip || SCRIPT_NAMES.has(name)) return list;
  return `${list}; \`rt x ${name}\` runs the package of that name`;
}

function isDependency(manifest: PackageJson, name: string): boolean {
  return ["dependencies", "devDependencies", "optionalDependencies"].some((field) => {
    const value = manifest[field];
    return typeof value === "object" && value !== null && Object.hasOwn(value, name);
  });
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
