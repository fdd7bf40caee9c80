// Checks that this system enforces the permissions of what is started.
import type { PermissionSupport } from "../../platform/permissions/contract/permissions.ts";
import { oneLine } from "../printable.ts";
import { UserError } from "../user-error.ts";

/**
 * Returns a warning about restrictions that the system lacks.
 * @param hint how to run without permissions
 * @throws UserError if permissions cannot be enforced, or not completely with --locked
 */
export function checkSupport(
  { obstacle, missing }: PermissionSupport,
  subjects: readonly { readonly label: string }[],
  isLocked: boolean,
  hint = "to run without permissions: rt run --no-permissions",
): string | undefined {
  const labels = subjects.map(({ label }) => oneLine(label)).join(", ");
  if (obstacle !== undefined)
    throw new UserError(`The permissions of ${labels} cannot be enforced: ${obstacle}`, hint);
  if (missing.length === 0) return undefined;
  const gap = `permissions do not cover ${missing.join(", ")} on this system`;
  if (isLocked) throw new UserError(`--locked: ${gap}`, "to run with the other restrictions, omit --locked");
  return `warning: ${gap}`;
}
