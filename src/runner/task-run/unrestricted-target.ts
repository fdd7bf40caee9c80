// Refuses a target that would run without the permissions that the command line or rtfig.toml asks for.
//
// Invariants: only scripts have permissions. Other targets run without them unless --permissions asks for them, which is an error.
import { permissionsFor } from "../../config/settings/permissions.ts";
import type { RunSettings } from "../../config/settings/settings.ts";
import { oneLine } from "../../printable.ts";
import { UserError } from "../../user-error.ts";
import { textField } from "../../workspace/package-json.ts";
import type { ExecutionPlan } from "../plan.ts";

/** @throws UserError */
export function refuseUnrestricted(plan: ExecutionPlan, { permissions, tasks, watch }: RunSettings): void {
  if (plan.mode !== "script") {
    if (permissions?.isAsked)
      throw new UserError(
        "--permissions works with package.json scripts and tasks only",
        "write a script in package.json for it, as in: rt run --permissions build",
      );
    return;
  }
  // In watch mode another rt process runs the script, with its permissions.
  if (watch) return;
  const { name, package: located } = plan.target;
  const owner = { name: textField(located.manifest, "name"), directory: located.directory };
  const rule = tasks?.ruleFor(tasks.ownerIn(owner), name);
  if (permissionsFor(permissions, rule))
    throw new UserError(
      `The script "${oneLine(name)}" has permissions, which are not enforced in this way of running it`,
      "run it by its name, as in: rt run build",
    );
}
