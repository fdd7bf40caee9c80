// Checks the working directory's project for `rt doctor`: rtfig.toml, RT_* variables, and the cache's location and size.
//
// Invariants:
// - It prints names of keys and variables, never values: a value may be a registry token.
import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorCode, errorMessage } from "../../../platform/caught-error.ts";
import type { DiagnosisCheck } from "../../../platform/secrets/contract/secret-provider.ts";
import { OWNER_ADVICE, requireOwnDirectory } from "../../../platform/files/path-ownership.ts";
import { host } from "../../../platform/processes/process.ts";
import { storeDirectory } from "../../cache/store/cache-store.ts";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { findRoot } from "../../config/root-project.ts";
import { readConfig } from "../../config/rtfig.ts";
import { parentDirectory } from "../../workspace/package-json.ts";
import { checkRules } from "./rule-checks.ts";

const MAX_LISTED_NAMES = 12;

/** @param directory the working directory */
export function checkProject(directory: string): DiagnosisCheck[] {
  const checks = [checkConfiguration(directory), ...checkRules(directory)];
  return [...checks, checkVariables(), checkCache(storeDirectory())];
}

function checkConfiguration(directory: string): DiagnosisCheck {
  const name = "configuration";
  const own = join(directory, FILE_NAME);
  const inherited = parentsOf(directory).filter((folder) => existsSync(join(folder, FILE_NAME)));
  const root = inherited.length > 0 ? findRootOrNone(directory) : undefined;
  const rest = inherited
    .map((folder) =>
      folder === root
        ? `; secrets and [run.cache] come from the root project's ${join(folder, FILE_NAME)}`
        : `; ${join(folder, FILE_NAME)} is not used for this folder`,
    )
    .join("");
  if (!existsSync(own)) return { name, status: "ok", found: `No ${FILE_NAME} in this folder${rest}` };
  try {
    const keys = readConfig(FILE_NAME).settings.map(({ path }) => path.join("."));
    const summary = keys.length > 0 ? `sets ${listNames(keys)}` : "has no keys";
    return { name, status: "ok", found: `${own} ${summary}${rest}` };
  } catch (error) {
    const { message, hint } = error as { message: string; hint?: string };
    const remedy = hint ?? "correct the file; rt help configuration lists its keys";
    return { name, status: "problem", found: message, remedy };
  }
}

function findRootOrNone(directory: string): string | undefined {
  try {
    return findRoot(directory);
  } catch {
    return undefined; // running a script reports an invalid package.json
  }
}

function parentsOf(directory: string): string[] {
  const folders: string[] = [];
  for (let each = parentDirectory(directory); each !== null; each = parentDirectory(each)) folders.push(each);
  return folders;
}

function checkVariables(): DiagnosisCheck {
  const set = Object.keys(host.originalEnvironment())
    .filter((variable) => variable.startsWith("RT_"))
    .sort();
  return {
    name: "variables",
    status: "ok",
    found: set.length > 0 ? listNames(set) : "No RT_* variables are set",
  };
}

function checkCache(directory: string | undefined): DiagnosisCheck {
  const name = "cache";
  if (directory === undefined)
    return {
      name,
      status: "warning",
      found: "Caching is disabled: no cache directory",
      remedy: "set HOME or XDG_CACHE_HOME",
    };
  try {
    const folder = nearestFolder(directory);
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error("A file"), { code: "ENOTDIR" });
    accessSync(folder, constants.W_OK);
    for (const each of [dirname(dirname(directory)), dirname(directory)])
      if (existsSync(each)) requireOwnDirectory(each);
  } catch (error) {
    const code = errorCode(error);
    const message = errorMessage(error);
    const found = code === undefined ? message : `Cannot write to ${directory} (${code})`;
    return { name, status: "warning", found, remedy: OWNER_ADVICE };
  }
  if (!existsSync(directory)) return { name, status: "ok", found: `The cache is empty (${directory})` };
  return { name, status: "ok", found: `${(sizeOf(directory) / 1e6).toFixed(1)} MB in ${directory}` };
}

function nearestFolder(directory: string): string {
  return existsSync(directory) ? directory : nearestFolder(dirname(directory));
}

/** Returns the total size of all files below, in bytes. Files that are removed during the scan count 0. */
function sizeOf(directory: string): number {
  let size = 0;
  for (const name of readdirSync(directory, { recursive: true }) as string[])
    size += statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  return size;
}

function listNames(names: readonly string[]): string {
  const rest = names.length - MAX_LISTED_NAMES;
  return names.slice(0, MAX_LISTED_NAMES).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
