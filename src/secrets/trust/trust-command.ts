// `rt trust`: allows what this project's rtfig.toml asks for; --list and --remove show and take back what was allowed.
//
// Contract: to allow takes a person at a terminal, who has been shown what. Exit codes: 0 done, 1 not.
import { realpathSync } from "node:fs";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { findRoot } from "../../config/root-project.ts";
import { type Config, readConfig, readOwnConfig } from "../../config/rtfig.ts";
import { printError } from "../../error-output.ts";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import type { FindServerUses } from "../../config/server-use.ts";
import { findConsents } from "./project-consents.ts";
import {
  type TrustRecord,
  describeServers,
  isTrusted,
  listAllowances,
  removeAllowance,
  requireAllTrust,
} from "./trust.ts";
import { printLine } from "../../output.ts";

/** Throws Failure. */
export function runTrustCommand(words: readonly string[], findUses: FindServerUses): number {
  const [word, ...rest] = words;
  const config = word?.startsWith("--config=") ? word.slice("--config=".length) : rest[0];
  if (word?.startsWith("--config=") ? rest.length === 0 : word === "--config" && rest.length === 1)
    return allow(readConfig(config!), findUses);
  if (word === "--list" && rest.length === 0) return list();
  if (word === "--remove" && rest.length <= 1) return remove(rest[0]);
  if (word !== undefined)
    throw new UserError(
      `rt trust does not know "${printable(word.startsWith("--") && rest.length > 0 ? rest.join(" ") : word)}"`,
      "rt trust, rt trust --config <file>, rt trust --list, rt trust --remove [folder|hash]",
    );
  return allow(readOwnConfig(), findUses);
}

/** @param config that of the working directory, or the one that is named */
function allow(config: Config | undefined, findUses: FindServerUses): number {
  const { mapping, servers } = findConsents(config, findUses);
  if (!mapping && servers.length === 0)
    return printError(
      config && config.file !== FILE_NAME
        ? `${printable(config.file)} asks for no secrets`
        : "The rtfig.toml of this project asks for no secrets",
      "rt help secrets-in-scripts",
    );
  const all = [...(mapping ? [mapping] : []), ...servers];
  const before = new Set(all.filter((each) => isTrusted(each)));
  requireAllTrust(all);
  for (const each of all) {
    const how = before.has(each) ? "already allowed" : "allowed";
    const what = each.servers
      ? describeServers(each.servers).map((line) => `${how}: ${line}`)
      : [`${printable(each.folder)} is ${how} to read secrets`];
    for (const line of what) printLine(line);
  }
  return 0;
}

function list(): number {
  for (const { hash, folder, names } of listAllowances())
    printLine(`${printable(folder)}\t${names.map(printable).join(" ")}\t${hash}`);
  return 0;
}

function remove(what = findRoot(process.cwd()) ?? process.cwd()): number {
  const isMeant = ({ hash, folder }: TrustRecord) => hash === what || folder === resolveFolder(what);
  const found = listAllowances().filter(isMeant);
  for (const each of found) {
    removeAllowance(each);
    printLine(`${printable(each.folder)} is no longer allowed to read secrets`);
  }
  return found.length > 0
    ? 0
    : printError(`Nothing was allowed for ${printable(what)}`, "rt trust --list shows what is");
}

/** A folder that is not there any more can be named as it was. */
function resolveFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
