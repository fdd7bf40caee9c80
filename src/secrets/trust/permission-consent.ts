// Requires trust before a project's rtfig.toml gives tasks more permissions than the defaults.
import { type Config } from "../../config/rtfig.ts";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { allWidenings } from "../../config/tasks/permission-table.ts";
import type { Mapping } from "../grants/mapping.ts";
import { requireTrust } from "./trust.ts";

/** Returns the consent that the file needs; undefined if its tables stay within the defaults. */
export function permissionConsent(config: Config | undefined, folder: string): Mapping | undefined {
  const permissions = config ? allWidenings(config.content) : [];
  if (!config || permissions.length === 0) return undefined;
  const { file } = config;
  const named = file.endsWith(FILE_NAME) ? undefined : file;
  return { file, named, folder, secrets: new Map(), grants: [], permissions };
}

/** Prompts if the widenings are not trusted yet. @throws UserError if trust is denied, or no prompt is possible */
export function requirePermissionConsent(config: Config, folder: string): void {
  const consent = permissionConsent(config, folder);
  if (consent) requireTrust(consent);
}
