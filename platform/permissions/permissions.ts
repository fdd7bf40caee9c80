// Selects the enforcement of permissions of this operating system, if it has one.
import type { ChildPermissions, PermissionSupport } from "./contract/permissions.ts";
import type { ReplayedRules } from "./linux/replayed-rules.ts";

const NOT_ENFORCED = "permissions are not enforced on this system";

/** Returns whether a version of this operating system limits install scripts. */
export function limitsInstallScripts(): boolean {
  return process.platform === "linux";
}

/** Returns a description of what this system enforces. */
export async function findSupport(): Promise<PermissionSupport> {
  if (process.platform === "linux") return (await import("./linux/support.ts")).supportOfLinux();
  if (process.platform === "darwin") return (await import("./macos/support.ts")).supportOfMacos();
  return { obstacle: NOT_ENFORCED, missing: [] };
}

/** Returns the function that starts a child with permissions. Synchronous, as the start of a child is. @throws an Error on other systems */
export function permittedStart() {
  if (process.platform === "linux")
    return (require("./linux/permitted-child.ts") as typeof import("./linux/permitted-child.ts"))
      .startPermitted;
  if (process.platform === "darwin")
    return (require("./macos/permitted-child.ts") as typeof import("./macos/permitted-child.ts"))
      .startPermitted;
  throw new Error(NOT_ENFORCED);
}

/** Returns the paths of the terminals that the standard descriptors are. */
export function listTerminals(): readonly string[] {
  if (process.platform === "linux")
    return (require("./linux/terminals.ts") as typeof import("./linux/terminals.ts")).listTerminals();
  return [];
}

/** Describes the rules of a child for a start memo. @throws an Error for other rules than the defaults */
export function describeRules(permissions: ChildPermissions): ReplayedRules {
  const described = require("./linux/replayed-rules.ts") as typeof import("./linux/replayed-rules.ts");
  return described.describeRules(permissions);
}
