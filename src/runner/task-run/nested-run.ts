// Describes a run of several packages inside a cached script, as by `"build": "rt run --filter '*' build"` of the root.
//
// Non-obvious:
// - Only the outer script is traced and cached. So a change in one package runs the scripts of all packages.
// - Scripts are traced on Linux only, so "/" separates paths. Loading node:path would delay each run of many scripts.
import { host } from "../../../platform/processes/process.ts";
import { isInsideTracedScript } from "../../cache/traced-variable.ts";
import { ROOT_PACKAGE } from "../../config/tasks/task-table.ts";
import { type CacheSettings, ruleFor } from "../../config/settings/cache.ts";
import { oneLine } from "../../printable.ts";
import type { Workspace } from "../../workspace/members.ts";

/** Returns the notice if a script of a package would be cached outside of such a run. */
export function describeNestedRun(
  scripts: readonly string[],
  cache: CacheSettings | undefined,
  { members, root }: Workspace,
): string | undefined {
  const event = host.originalVariable("npm_lifecycle_event");
  if (!cache || event === undefined || !isInsideTracedScript()) return undefined;
  const isCached = members.some(
    ({ name, directory, isRoot }) =>
      !isRoot && scripts.some((each) => ruleFor(cache, { name, directory }, each)),
  );
  if (!isCached) return undefined;
  const isOfRoot = host.originalVariable("npm_package_json") === `${root}/package.json`;
  const owner = isOfRoot ? ROOT_PACKAGE : (host.originalVariable("npm_package_name") ?? "");
  return (
    `this run is inside the cached script "${oneLine(event)}", so all packages are one result; ` +
    `to cache each one, set cache = false in [tasks."${oneLine(owner)}#${oneLine(event)}"]`
  );
}
