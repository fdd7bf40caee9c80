// Describes what macOS enforces of the permissions of a task.
import { existsSync } from "node:fs";
import type { PermissionSupport } from "../contract/permissions.ts";

export const SANDBOX_PROGRAM = "/usr/bin/sandbox-exec";

export function supportOfMacos(program = SANDBOX_PROGRAM): PermissionSupport {
  if (!existsSync(program)) return { obstacle: `${program} is missing`, missing: [] };
  return { missing: ["reports of refusals", "processes that a task leaves behind"] };
}
