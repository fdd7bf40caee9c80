// Requires trust before variables are sent to servers that a project's files name.
//
// Invariants:
// - One consent is a set of servers, the variable names of each, and one folder. Another address, or another source in
//   [secrets], is a new trust prompt.
// - The prompt does not depend on whether a value is in the environment or in the credential store.
import { realPath } from "../../../platform/files/real-path.ts";
import { host } from "../../../platform/processes/process.ts";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { findRoot } from "../../config/root-project.ts";
import type { Config } from "../../config/rtfig.ts";
import type { ServerUse } from "../../config/server-use.ts";
import type { Mapping } from "../grants/mapping.ts";
import { requireTrust } from "./trust.ts";

/** The location, configuration and secrets of a project. */
export interface Project {
  readonly mapping: Mapping | undefined;
  readonly config: Config | undefined;
  /** Absolute path of the working directory or package. */
  readonly directory: string;
  /** Folder of rtfig.toml, if the caller has it. */
  readonly folder?: string | undefined;
}

/** Returns the consent that these uses need; undefined if they get no variable. */
export function consentFor(
  uses: readonly ServerUse[],
  { mapping, config, directory, folder }: Project,
): Mapping | undefined {
  const servers = uses.flatMap(({ server, names, named }): ServerUse[] => {
    const own = names.filter((name) => named.includes(name) || mapping?.secrets.has(name));
    return own.length > 0 ? [{ server, names: own, named }] : [];
  });
  if (servers.length === 0) return undefined;
  const names = new Set(servers.flatMap((each) => each.names));
  const file = config?.file ?? FILE_NAME;
  return {
    file,
    named: file === FILE_NAME ? undefined : file,
    folder: folder ?? mapping?.folder ?? folderOf(file, directory),
    secrets: new Map([...(mapping?.secrets ?? [])].filter(([name]) => names.has(name))),
    grants: [],
    servers,
  };
}

/** Returns whether a variable of the consent has a value to send. */
export function sendsSomething({ servers = [], secrets }: Mapping): boolean {
  return servers.some(({ names, named }) =>
    names.some((name) =>
      host.originalVariable(name) === undefined ? secrets.has(name) : named.includes(name),
    ),
  );
}

/** Prompts if the use is not trusted yet. @throws UserError if trust is denied, or no prompt is possible */
export function requireConsent(use: ServerUse, project: Project): void {
  const part = consentFor([use], project);
  if (part && sendsSomething(part)) requireTrust(part);
}

function folderOf(file: string, directory: string): string {
  if (file === FILE_NAME) return findRoot(directory) ?? realPath(directory);
  const { dirname, resolve } = process.getBuiltinModule("node:path");
  return dirname(realPath(resolve(file)));
}
