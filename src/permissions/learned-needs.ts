// Collects what tasks use beyond their tables, and proposes, writes or checks the tables after the run.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PermissionObservation } from "../config/settings/permissions.ts";
import { FILE_NAME } from "../config/config-file-name.ts";
import { replaceFile } from "../config/replaced-file.ts";
import type { Config } from "../config/rtfig.ts";
import type { PermissionTable } from "../config/tasks/permission-table.ts";
import { host } from "../../platform/processes/process.ts";
import { printLine, reportLine } from "../output.ts";
import { oneLine, printable } from "../printable.ts";
import { confirm } from "../secrets/confirm-prompt.ts";
import { UserError } from "../user-error.ts";
import { describeSince } from "./need-history.ts";
import { editTables } from "./table-edit.ts";
import { isSameTable, proposeTable, type TaskNeeds } from "./table-proposal.ts";

export class LearnedNeeds {
  readonly #mode: PermissionObservation;
  readonly #file: string;
  readonly #text: string;
  readonly #root: string;
  /** By the name of the row, one for each task that has the row. */
  readonly #needs = new Map<string, TaskNeeds[]>();

  /** @param root folder of the root project, which gets the file if there is none */
  constructor(mode: PermissionObservation, config: Config | undefined, root: string) {
    this.#mode = mode;
    this.#file = config?.file ?? (root === process.cwd() ? FILE_NAME : join(root, FILE_NAME));
    this.#text = config?.text ?? "";
    this.#root = root;
  }

  add(row: string, needs: TaskNeeds): void {
    const all = this.#needs.get(row) ?? [];
    this.#needs.set(row, all);
    // Steps of one task are learned together.
    const known = all.findIndex(({ base }) => base.packageDirectory === needs.base.packageDirectory);
    if (known < 0) all.push(needs);
    else all[known] = { ...needs, calls: [...all[known]!.calls, ...needs.calls] };
  }

  has(row: string, packageDirectory: string): boolean {
    return this.#needs.get(row)?.some(({ base }) => base.packageDirectory === packageDirectory) ?? false;
  }

  /** Shows the difference and may write it. Returns the exit code. @throws UserError */
  async conclude(): Promise<number> {
    const tables = this.#proposeAll();
    const isChecked = this.#mode === "check";
    const since = isChecked ? [] : await this.#describeSince(tables);
    if (isChecked ? this.#needs.size === 0 : tables.size === 0) {
      reportLine("No task used more than its permissions allow");
      return 0;
    }
    const names = [...(isChecked ? this.#needs : tables).keys()].map((row) => `"${oneLine(row)}"`).join(", ");
    const { text, difference } = editTables(this.#text, this.#file, tables);
    if (tables.size > 0) printLine([printable(this.#file), ...difference.map(printable)].join("\n"));
    for (const line of since) reportLine(line);
    if (isChecked) {
      reportLine(`error: The permissions of ${names} do not allow what was used`);
      if (tables.size > 0) reportLine("hint: if the use is right, change rtfig.toml as shown");
      return 1;
    }
    if (this.#mode === "learn" && !(await this.#isAccepted())) return 0;
    const now = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : "";
    if (now !== this.#text)
      throw new UserError(`${printable(this.#file)} has changed during the run`, "run it again");
    replaceFile(this.#file, text);
    reportLine(`Wrote the permissions of ${names} to ${printable(this.#file)}`);
    return 0;
  }

  /** Also remembers the runs that need nothing new. */
  async #describeSince(tables: ReadonlyMap<string, PermissionTable>): Promise<string[]> {
    const learned = [...this.#needs].map(([row, [needs]]) => ({
      row,
      own: needs!.table,
      proposed: tables.get(row) ?? needs!.table ?? {},
    }));
    return await describeSince(this.#root, learned);
  }

  async #isAccepted(): Promise<boolean> {
    if (host.isTerminal(0) && host.isTerminal(2))
      return await confirm(`Write this to ${printable(this.#file)}?`, "nothing was written");
    reportLine("hint: to write it, use --learn=write");
    return false;
  }

  /** Returns the tables that differ from those of the file. */
  #proposeAll(): ReadonlyMap<string, PermissionTable> {
    const tables = new Map<string, PermissionTable>();
    for (const [row, all] of this.#needs) {
      const proposed = all.map(proposeTable).reduce(uniteTables);
      const { table } = all[0]!;
      const isNew = table === undefined && this.#mode !== "check";
      if (isNew || !isSameTable(proposed, table ?? {})) tables.set(row, proposed);
    }
    return tables;
  }
}

/** Unites the tables of tasks with the same row. A list that one of them lacks has its default, which is wider for `write`. */
function uniteTables(a: PermissionTable, b: PermissionTable): PermissionTable {
  const unite = (key: keyof PermissionTable) => [...new Set([...(a[key] ?? []), ...(b[key] ?? [])])];
  const keys = (["read", "write", "hosts", "sockets"] as const).filter((key) =>
    key === "write" ? a.write && b.write : (a[key] ?? b[key]),
  );
  return Object.fromEntries(keys.map((key) => [key, unite(key)]));
}
