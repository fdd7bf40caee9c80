// Selects the enforcement of permissions of this operating system, if it has one.
import type { PermissionSupport } from "./contract/permissions.ts";

const NOT_ENFORCED = "permissions are not enforced on this system";

/** Returns a description of what this system enforces. */
export async function findSupport(): Promise<PermissionSupport> {
  if (process.platform !== "linux") return { obstacle: NOT_ENFORCED, missing: [] };
  return (await import("./linux/support.ts")).supportOfLinux();
}

/** Returns the function that starts a child with permissions. Synchronous, as the start of a child is. @throws an Error elsewhere */
export function permittedStart() {
  if (process.platform !== "linux") throw new Error(NOT_ENFORCED);
  return (require("./linux/permitted-child.ts") as typeof import("./linux/permitted-child.ts"))
    .startPermitted;
}

/** Returns the paths of the terminals that the standard descriptors are. */
export function listTerminals(): readonly string[] {
  if (process.platform !== "linux") return [];
  return (require("./linux/terminals.ts") as typeof import("./linux/terminals.ts")).listTerminals();
}
