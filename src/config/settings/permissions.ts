// Reads which tasks have permissions: --permissions, --no-permissions, [permissions] and [tasks] of rtfig.toml.
//
// Invariants: the command line precedes rtfig.toml, and a row of [tasks] precedes [permissions].
import type { GivenOptions } from "../../options/parse.ts";
import { UserError } from "../../user-error.ts";
import type { Config } from "../rtfig.ts";
import type { PermissionTable } from "../tasks/permission-table.ts";
import type { TaskRule } from "../tasks/task-rules.ts";

export interface PermissionSettings {
  /** Whether tasks without a row have the defaults. */
  readonly isDefault: boolean;
  /** Whether the command line asks for them. */
  readonly isAsked: boolean;
  /** The root project's file, whose widenings need trust. */
  readonly config: Config | undefined;
}

/** Returns undefined if no task has permissions. @throws UserError */
export function readPermissionSettings(
  root: Config | undefined,
  given: GivenOptions,
): PermissionSettings | undefined {
  const [isAsked, isRefused] = [given.has("permissions"), given.has("no-permissions")];
  if (isAsked && isRefused)
    throw new UserError("--permissions cannot be used with --no-permissions", "remove one of them");
  if (isRefused) return undefined;
  const { permissions, tasks } = root?.content ?? {};
  const isDefault = permissions?.default === true;
  const isDeclared = Object.values(tasks ?? {}).some((row) => (row.permissions ?? false) !== false);
  return isAsked || isDefault || isDeclared ? { isDefault, isAsked, config: root } : undefined;
}

/** Returns the table of a task; undefined for a task without permissions. */
export function permissionsFor(
  settings: PermissionSettings | undefined,
  rule: TaskRule | undefined,
): PermissionTable | undefined {
  if (!settings) return undefined;
  const own = rule?.permissions;
  if (typeof own === "object") return own;
  return settings.isAsked || (own ?? settings.isDefault) ? {} : undefined;
}
