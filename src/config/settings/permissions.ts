// Reads which tasks have permissions: --permissions, --no-permissions, [permissions] and [tasks] of rtfig.toml.
//
// Invariants: the command line precedes rtfig.toml, and a row of [tasks] precedes [permissions].
import type { GivenOptions } from "../../options/parse.ts";
import { UserError } from "../../user-error.ts";
import type { Config } from "../rtfig.ts";
import type { PermissionTable } from "../tasks/permission-table.ts";
import type { TaskRule } from "../tasks/task-rules.ts";

/**
 * Tracing of tasks. "explain" names refused files, and "check" fails because of them. "learn" observes tasks without limits and
 * proposes their tables; "write" writes these without a question.
 */
export type PermissionObservation = "explain" | "check" | "learn" | "write";

export interface PermissionSettings {
  /** Whether tasks without a row have the defaults. */
  readonly isDefault: boolean;
  /** The option that asks for them. */
  readonly asked?: string | undefined;
  /** Set if steps are traced. */
  readonly observation?: PermissionObservation | undefined;
  /** Whether a refusal is a failure, and a restriction that the kernel lacks an error. */
  readonly isLocked: boolean;
  /** The root project's file, whose widenings need trust. */
  readonly config: Config | undefined;
}

/** Options that ask for permissions. */
const OPTIONS = ["learn", "explain", "permissions"];

/** @throws UserError */
function readObservation(given: GivenOptions): PermissionObservation | undefined {
  const [isExplained, isLearned] = [given.has("explain"), given.has("learn")];
  if (isExplained && isLearned)
    throw new UserError("--explain cannot be used with --learn", "remove one of them");
  if (isExplained) return given.get("explain")!.last === "check" ? "check" : "explain";
  return isLearned ? (given.get("learn")!.last === "write" ? "write" : "learn") : undefined;
}

/** Returns undefined if no task has permissions. @throws UserError */
export function readPermissionSettings(
  root: Config | undefined,
  given: GivenOptions,
): PermissionSettings | undefined {
  const observation = readObservation(given);
  const asked = OPTIONS.find((name) => given.has(name));
  const isRefused = given.has("no-permissions");
  if (asked !== undefined && isRefused)
    throw new UserError(`--${asked} cannot be used with --no-permissions`, "remove one of them");
  if (observation && given.has("watch"))
    throw new UserError(`--${asked} cannot be used with --watch`, "remove one of them");
  const isLocked = given.has("locked");
  if (isLocked && (isRefused || observation === "learn" || observation === "write"))
    throw new UserError(
      `--locked cannot be used with --${isRefused ? "no-permissions" : asked}`,
      "remove one of them",
    );
  if (isRefused) return undefined;
  const { permissions, tasks } = root?.content ?? {};
  const isDefault = permissions?.default === true;
  const isDeclared = Object.values(tasks ?? {}).some((row) => (row.permissions ?? false) !== false);
  if (asked !== undefined || isDefault || isDeclared)
    return { isDefault, asked, observation, isLocked, config: root };
  if (isLocked) throw new UserError("--locked needs permissions, and no task has them", "add --permissions");
  return undefined;
}

/** Returns the table of a task; undefined for a task without permissions. */
export function permissionsFor(
  settings: PermissionSettings | undefined,
  rule: TaskRule | undefined,
): PermissionTable | undefined {
  if (!settings) return undefined;
  const own = rule?.permissions;
  if (typeof own === "object") return own;
  return settings.asked !== undefined || (own ?? settings.isDefault) ? {} : undefined;
}
