// Runs `rt trust`: trusts the secrets of this project's rtfig.toml; --list and --remove show and revoke trust records.
//
// Invariants:
// - Trust needs a terminal on which the secrets were shown. Exit codes: 0 done, 1 otherwise.
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
  listTrustRecords,
  removeTrustRecord,
  requireAllTrust,
} from "./trust.ts";
import { printLine } from "../../output.ts";

/** Runs the command and returns the exit code. @throws UserError */
export function runTrustCommand(words: readonly string[], findUses: FindServerUses): number {
  const [word, ...rest] = words;
  const config = word?.startsWith("--config=") ? word.slice("--config=".length) : rest[0];
  if (word?.startsWith("--config=") ? rest.length === 0 : word === "--config" && rest.length === 1)
    return allow(readConfig(config!), findUses);
  if (word === "--list" && rest.length === 0) return list();
  if (word === "--remove" && rest.length <= 1) return remove(rest[0]);
  if (word !== undefined)
    throw new UserError(
      `Unexpected argument "${printable(word.startsWith("--") && rest.length > 0 ? rest.join(" ") : word)}"`,
      "use rt trust, rt trust --config <file>, rt trust --list or rt trust --remove [folder|hash]",
    );
  return allow(readOwnConfig(), findUses);
}

/** @param config the rtfig.toml of the working directory, or the file of --config */
function allow(config: Config | undefined, findUses: FindServerUses): number {
  const { mapping, servers } = findConsents(config, findUses);
  if (!mapping && servers.length === 0)
    return printError(
      config && config.file !== FILE_NAME
        ? `${printable(config.file)} declares no secrets`
        : "This project's rtfig.toml declares no secrets",
      "rt help secrets-in-scripts",
    );
  const all = [...(mapping ? [mapping] : []), ...servers];
  const before = new Set(all.filter((each) => isTrusted(each)));
  requireAllTrust(all);
  for (const each of all) {
    const how = before.has(each) ? "already allowed" : "allowed";
    const target = each.servers
      ? describeServers(each.servers).map((line) => `${how}: ${line}`)
      : (each.permissions?.map((line) => `${how}: ${line}`) ?? [
          `${printable(each.folder)} is ${how} to read secrets`,
        ]);
    for (const line of target) printLine(line);
  }
  return 0;
}

function list(): number {
  for (const { hash, folder, names } of listTrustRecords())
    printLine(`${printable(folder)}\t${names.map(printable).join(" ")}\t${hash}`);
  return 0;
}

function remove(target = findRoot(process.cwd()) ?? process.cwd()): number {
  const matches = ({ hash, folder }: TrustRecord) => hash === target || folder === resolveFolder(target);
  const records = listTrustRecords().filter(matches);
  for (const each of records) {
    removeTrustRecord(each);
    printLine(`${printable(each.folder)} may no longer read secrets`);
  }
  return records.length > 0
    ? 0
    : printError(`No trust record for ${printable(target)}`, "list them: rt trust --list");
}

/** Returns the path unchanged for a folder that no longer exists, so that its record can be removed. */
function resolveFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
