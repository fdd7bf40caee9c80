// Finds the registries that secrets of a project are sent to, for the trust prompt.
//
// Invariants:
// - The result does not depend on the environment, so that the consent given to `rt trust` is the one that `rt install` needs.
import { join } from "node:path";
import { files } from "../../../platform/files/files.ts";
import { host } from "../../../platform/processes/process.ts";
import { realPath } from "../../../platform/files/real-path.ts";
import type { MappedSecret, RegistryGrant } from "../grants/mapping.ts";
import { findRegistryUses, type RegistryUse } from "./registry-tokens.ts";
import type { ConfigContent } from "../../config/config-content.ts";

/**
 * @param contents parsed content of each rtfig.toml that may apply
 * @param root folder of the root project
 */
export function findRegistries(
  contents: readonly ConfigContent[],
  root: string,
  secrets: ReadonlyMap<string, MappedSecret>,
): RegistryGrant[] {
  const npmrcs = readNpmrcs(root);
  return toGrants(
    contents.flatMap((content) => findRegistryUses(content, npmrcs)),
    secrets,
  );
}

/** Returns the registries that use a secret, without duplicates, in order. */
export function toGrants(
  uses: readonly RegistryUse[],
  secrets: ReadonlyMap<string, MappedSecret>,
): RegistryGrant[] {
  const grants = uses.map(({ url, variables }) => ({
    url,
    names: [...new Set(Object.values(variables))].filter((name) => secrets.has(name)).sort(),
  }));
  const used = grants.filter(({ names }) => names.length > 0);
  return [...new Map(used.map((each) => [JSON.stringify(each), each])).values()];
}

/** Reads the .npmrc of the root project, then that of the home folder: earlier ones take precedence. */
export function readNpmrcs(root: string): string[] {
  const home = homeFolder();
  return [readNpmrc(root), ...(home ? [readNpmrc(home)] : [])];
}

/** Returns the text of the project's .npmrc; "" if it is missing, or if the root is the home folder. */
export function readProjectNpmrc(root: string): string {
  const home = homeFolder();
  return home && resolveFolder(home) === realPath(root) ? "" : readNpmrc(root);
}

/** Returns undefined if the folder does not exist, as the home folder of some containers' users. */
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
