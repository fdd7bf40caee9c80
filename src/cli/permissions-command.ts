// Turns `rt permissions check` into a run of the tasks that have permissions.
import { realpathSync } from "node:fs";
import { readOwnConfig } from "../config/rtfig.ts";
import { findRootConfig } from "../config/root-config.ts";
import { suggestNames } from "../did-you-mean.ts";
import { oneLine } from "../printable.ts";
import { UserError } from "../user-error.ts";
import { isGlob } from "../workspace/glob.ts";
import { openOwnWorkspace } from "../workspace/members.ts";
import { findPackageJson } from "../workspace/package-json.ts";

/** Returns the command line of the run. @throws UserError */
export function wordsOfCheck([word, ...names]: readonly string[], cwd: string): string[] {
  if (word !== "check") {
    const [similar] = word === undefined ? [] : suggestNames(word, ["check"]);
    throw new UserError(
      word === undefined ? "rt permissions needs a word" : `rt permissions has no "${oneLine(word)}"`,
      similar === undefined ? "rt permissions check" : `did you mean "${similar}"?`,
    );
  }
  const tasks = names.length > 0 ? names : listRestricted(cwd);
  // A row of rtfig.toml may have such a name too.
  const option = tasks.find((name) => name.startsWith("-"));
  if (option !== undefined)
    throw new UserError(
      `rt permissions check has no option "${oneLine(option)}"`,
      "for options of a run: rt run --explain=check build",
    );
  if (tasks.length === 0)
    throw new UserError("No row of [tasks] has permissions", "name tasks, as in: rt permissions check build");
  const scope = isWorkspaceRoot(cwd) ? ["--filter=*", "--filter=."] : [];
  return ["run", "--explain=check", "--sequential", "--no-exit-on-error", ...scope, ...tasks];
}

/** There a row of [tasks] applies to the scripts of all packages, and of the root. */
function isWorkspaceRoot(cwd: string): boolean {
  const { isDeclared, root } = openOwnWorkspace(cwd);
  return isDeclared && root === realpathSync(findPackageJson(cwd)?.directory ?? cwd);
}

function listRestricted(cwd: string): string[] {
  const { tasks = {} } = findRootConfig(readOwnConfig(), cwd)?.content ?? {};
  return Object.entries(tasks)
    .filter(([name, { permissions }]) => (permissions ?? false) !== false && !isGlob(name))
    .map(([name]) => name);
}
