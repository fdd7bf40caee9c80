// The registries that secrets of a project are sent to, as a person is asked whether they may have them.
//
// Contract: what is found does not depend on what the environment has, so that it is the same wherever it is asked for: what
// `rt trust` shows is what `rt install` needs.
import { join } from "node:path";
import { files } from "../../../platform/files/files.ts";
import { host } from "../../../platform/processes/process.ts";
import { realPath } from "../../../platform/files/real-path.ts";
import type { MappedSecret, RegistryGrant } from "../grants/mapping.ts";
import { findRegistryUses, type RegistryUse } from "./registry-tokens.ts";

type Table = Readonly<Record<string, unknown>>;

/**
 * @param contents of each rtfig.toml that may count
 * @param root folder of the root project
 */
export function findRegistries(
  contents: readonly Table[],
  root: string,
  secrets: ReadonlyMap<string, MappedSecret>,
): RegistryGrant[] {
  const npmrcs = readNpmrcs(root);
  return toGrants(
    contents.flatMap((content) => findRegistryUses(content, npmrcs)),
    secrets,
  );
}

/** Each once, in order. */
export function toGrants(
  uses: readonly RegistryUse[],
  secrets: ReadonlyMap<string, MappedSecret>,
): RegistryGrant[] {
  const grants = uses.map(({ url, variables }) => ({
    url,
    names: [...new Set(Object.values(variables))].filter((name) => secrets.has(name)).sort(),
  }));
  const found = grants.filter(({ names }) => names.length > 0);
  return [...new Map(found.map((each) => [JSON.stringify(each), each])).values()];
}

/** Of the root project and of the home folder; the stronger first. */
export function readNpmrcs(root: string): string[] {
  const home = homeFolder();
  return [readNpmrc(root), ...(home ? [readNpmrc(home)] : [])];
}

/** Returns the text of the project's own; "" if there is none, or if it is the user's. */
export function readProjectNpmrc(root: string): string {
  const home = homeFolder();
  return home && resolveFolder(home) === realPath(root) ? "" : readNpmrc(root);
}

/** Undefined where there is none, as in a container whose user has no home folder. */
function resolveFolder(folder: string): string | undefined {
  try {
    return realPath(folder);
  } catch {
    return undefined;
  }
}

function homeFolder(): string | undefined {
  return host.originalVariable("HOME") || host.originalVariable("USERPROFILE");
}

function readNpmrc(folder: string): string {
  const bytes = files.readFile(join(folder, ".npmrc"));
  return typeof bytes === "string" ? "" : new TextDecoder().decode(bytes);
}
