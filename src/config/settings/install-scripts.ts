// Reads the permissions of dependencies' lifecycle scripts: [install.permissions] of the root project, and options of the tool.
import type { GivenOptions } from "../../options/parse.ts";
import { UserError } from "../../user-error.ts";
import type { Config } from "../rtfig.ts";
import { findInvalidEntry, type PermissionTable } from "../tasks/permission-table.ts";
import { lineOf } from "../toml-line.ts";

export interface InstallTable extends PermissionTable {
  /** Variables besides the standard ones. */
  readonly env?: readonly string[];
}

export interface InstallScriptSettings {
  /** By the name of the package; true for the defaults. */
  readonly rows: Readonly<Record<string, boolean | InstallTable>>;
  /** Whether the file switches off permissions for all packages, which needs trust. */
  readonly isOff: boolean;
  /** Whether scripts are traced, so that refused files are named. */
  readonly isExplained: boolean;
  readonly isLocked: boolean;
  /** The root project's file, whose widenings need trust. */
  readonly config: Config | undefined;
}

/** Returns undefined with --no-permissions. @throws UserError */
export function readInstallScripts(
  root: Config | undefined,
  given: GivenOptions,
): InstallScriptSettings | undefined {
  const isRefused = given.has("no-permissions");
  const conflict = ["permissions", "explain", "locked"].find((name) => given.has(name));
  if (isRefused && conflict !== undefined)
    throw new UserError(`--${conflict} cannot be used with --no-permissions`, "remove one of them");
  if (given.has("learn"))
    throw new UserError("--learn works with package.json scripts and tasks only", "use --explain instead");
  if (isRefused) return undefined;
  const own = root?.content.install?.permissions;
  const rows: InstallScriptSettings["rows"] = typeof own === "object" ? own : {};
  for (const [name, row] of Object.entries(rows)) if (typeof row === "object") checkTable(name, row, root!);
  return {
    rows,
    isOff: own === false && !given.has("permissions"),
    isExplained: given.has("explain"),
    isLocked: given.has("locked"),
    config: root,
  };
}

function checkTable(name: string, table: InstallTable, { file, text }: Config): void {
  const invalid = findInvalidEntry(table);
  if (!invalid) return;
  const path = ["install", "permissions", name, invalid.key];
  throw new UserError(`${file}:${lineOf(text, path)}: ${path.join(".")} ${invalid.problem}`, invalid.hint);
}
