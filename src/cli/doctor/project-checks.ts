// What `rt doctor` finds of the place that it is started in: which rtfig.toml says what, which variables of rt's own are set,
// how much is kept of scripts.
//
// Contract: names of keys and variables, never their values, among which a registry's token may be.
import { accessSync, constants, existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DiagnosisCheck } from "../../../platform/secrets/contract/secret-provider.ts";
import { OWNER_ADVICE, requireOwnDirectory } from "../../../platform/files/path-ownership.ts";
import { host } from "../../../platform/processes/process.ts";
import { storeDirectory } from "../../cache/store/cache-store.ts";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { findRoot } from "../../config/root-project.ts";
import { readConfig } from "../../config/rtfig.ts";
import { parentDirectory } from "../../workspace/package-json.ts";
import { checkRules } from "./rule-checks.ts";

const MOST_NAMED = 12;

/** @param directory the working directory */
export function checkProject(directory: string): DiagnosisCheck[] {
  const checks = [checkConfiguration(directory), ...checkRules(directory)];
  return [...checks, checkVariables(), checkCache(storeDirectory())];
}

function checkConfiguration(directory: string): DiagnosisCheck {
  const name = "configuration";
  const own = join(directory, FILE_NAME);
  const others = foldersAbove(directory).filter((folder) => existsSync(join(folder, FILE_NAME)));
  const root = others.length > 0 ? findRootOrNone(directory) : undefined;
  const rest = others
    .map((folder) =>
      folder === root
        ? `; for secrets and [run.cache] that of the root project, ${join(folder, FILE_NAME)}`
        : `; ${join(folder, FILE_NAME)} counts for nothing here`,
    )
    .join("");
  if (!existsSync(own)) return { name, status: "ok", found: `No ${FILE_NAME} here${rest}` };
  try {
    const keys = readConfig(FILE_NAME).settings.map(({ path }) => path.join("."));
    const named = keys.length > 0 ? `sets ${nameSome(keys)}` : "sets nothing";
    return { name, status: "ok", found: `${own} ${named}${rest}` };
  } catch (error) {
    const { message, hint } = error as { message: string; hint?: string };
    const remedy = hint ?? `mend the file; rt help configuration lists its keys`;
    return { name, status: "problem", found: message, remedy };
  }
}

function findRootOrNone(directory: string): string | undefined {
  try {
    return findRoot(directory);
  } catch {
    return undefined; // what is wrong with a package.json, who runs a script of it says
  }
}

function foldersAbove(directory: string): string[] {
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
    found: set.length > 0 ? nameSome(set) : "None of rt's own is set",
  };
}

function checkCache(directory: string | undefined): DiagnosisCheck {
  const name = "cache";
  if (directory === undefined)
    return {
      name,
      status: "warning",
      found: "Nothing says where it is, so nothing is kept",
      remedy: "set HOME or XDG_CACHE_HOME",
    };
  try {
    const folder = nearestFolder(directory);
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error("A file"), { code: "ENOTDIR" });
    accessSync(folder, constants.W_OK);
    for (const each of [dirname(dirname(directory)), dirname(directory)])
      if (existsSync(each)) requireOwnDirectory(each);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const found = code === undefined ? message : `${directory} cannot be written to (${code})`;
    return { name, status: "warning", found, remedy: OWNER_ADVICE };
  }
  if (!existsSync(directory)) return { name, status: "ok", found: `Nothing is kept in ${directory}` };
  return { name, status: "ok", found: `${(sizeOf(directory) / 1e6).toFixed(1)} MB in ${directory}` };
}

function nearestFolder(directory: string): string {
  return existsSync(directory) ? directory : nearestFolder(dirname(directory));
}

/** Bytes of all files below. What goes meanwhile does not count. */
function sizeOf(directory: string): number {
  let size = 0;
  for (const name of readdirSync(directory, { recursive: true }) as string[])
    size += statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  return size;
}

function nameSome(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
