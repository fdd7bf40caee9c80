// Describes what this kernel enforces of the permissions of a task.
import type { PermissionSupport } from "../contract/permissions.ts";
import { hasRulesets, landlockVersion, VERSION_WITH_SCOPES } from "./ruleset.ts";

export function supportOfLinux(version = landlockVersion()): PermissionSupport {
  if (version === 0)
    return {
      obstacle: "the kernel has no Landlock (Linux 6.2 or later, with landlock in its list of LSMs)",
      missing: [],
    };
  if (!hasRulesets(version))
    return {
      obstacle: `the kernel has version ${version} of Landlock, and 3 is needed (Linux 6.2)`,
      missing: [],
    };
  const missing =
    version < VERSION_WITH_SCOPES ? ["signals to processes outside of the task (Linux 6.12)"] : [];
  return { missing };
}
