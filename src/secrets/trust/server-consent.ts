// A person's consent to what servers get: servers that a project's files name, and variables for them.
//
// Invariants:
// - What is allowed is one set of servers, each with the names of its variables, in one folder. Another address is another
//   question, and so is another source in [secrets].
// - What is asked does not depend on where a value is: in the environment or in the credential store.
import { realPath } from "../../../platform/files/real-path.ts";
import { host } from "../../../platform/processes/process.ts";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { findRoot } from "../../config/root-project.ts";
import type { Config } from "../../config/rtfig.ts";
import type { ServerUse } from "../../config/server-use.ts";
import type { Mapping } from "../grants/mapping.ts";
import { requireTrust } from "./trust.ts";

/** Where a project is, and its secrets, if it has some. */
export interface Project {
  readonly mapping: Mapping | undefined;
  readonly config: Config | undefined;
  /** The working directory, or that of the package; absolute. */
  readonly directory: string;
  /** That of rtfig.toml, if it is known already. */
  readonly folder?: string | undefined;
}

/** Returns what has to be allowed for these; undefined if they get no variable. */
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

/** Whether there is a value that needs the consent. */
export function sendsSomething({ servers = [], secrets }: Mapping): boolean {
  return servers.some(({ names, named }) =>
    names.some((name) =>
      host.originalVariable(name) === undefined ? secrets.has(name) : named.includes(name),
    ),
  );
}

/** Asks where it has to. Throws Failure where it is not allowed. */
export function requireConsent(use: ServerUse, project: Project): void {
  const part = consentFor([use], project);
  if (part && sendsSomething(part)) requireTrust(part);
}

function folderOf(file: string, directory: string): string {
  if (file === FILE_NAME) return findRoot(directory) ?? realPath(directory);
  const { dirname, resolve } = process.getBuiltinModule("node:path");
  return dirname(realPath(resolve(file)));
}
