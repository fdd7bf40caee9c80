// Describes what this kernel enforces of the permissions of a task.
import type { PermissionSupport } from "../contract/permissions.ts";
import { landlockVersion, MIN_VERSION, VERSION_WITH_SCOPES } from "./landlock.ts";

export function supportOfLinux(version = landlockVersion()): PermissionSupport {
  if (version === 0)
    return {
      obstacle: "the kernel has no Landlock (Linux 6.2 or later, with landlock in its list of LSMs)",
      missing: [],
    };
  if (version < MIN_VERSION)
    return {
      obstacle: `the kernel has version ${version} of Landlock, and ${MIN_VERSION} is needed (Linux 6.2)`,
      missing: [],
    };
  const missing =
    version < VERSION_WITH_SCOPES ? ["signals to processes outside of the task (Linux 6.12)"] : [];
  return { missing };
}
