// Refuses a script that would run without the permissions that the command line or rtfig.toml asks for.
import { permissionsFor } from "../../config/settings/permissions.ts";
import type { RunSettings } from "../../config/settings/settings.ts";
import { oneLine } from "../../printable.ts";
import { UserError } from "../../user-error.ts";
import { textField } from "../../workspace/package-json.ts";
import type { ScriptPlan } from "../plan.ts";

/** @throws UserError */
export function refuseUnrestricted(plan: ScriptPlan, { permissions, tasks, watch }: RunSettings): void {
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
