// Remembers which entries the learned runs of a project needed, so that a later proposal says since when an entry is needed.
//
// Invariants:
// - It says only what learned runs have shown: the last one without the need, and the first one with it.
// - Without a folder that can be written nothing is remembered, and nothing is said.
import { openStateFiles } from "../../platform/files/state-directory.ts";
import { PERMISSION_KEYS, type PermissionTable } from "../config/tasks/permission-table.ts";
import { oneLine } from "../printable.ts";
import { tryGit } from "../workspace/git.ts";

const KIND = "permission-needs";

interface LearnedRun {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Short hash of HEAD; absent without git. */
  readonly commit?: string | undefined;
}

interface RowHistory {
  readonly last: LearnedRun;
  /** By entry, such as `read ~/.npmrc`. */
  readonly needs: Readonly<Record<string, { readonly first: LearnedRun; readonly without?: LearnedRun }>>;
}

/** The table of a row before and after a learned run. */
export interface LearnedTable {
  readonly row: string;
  readonly own: PermissionTable | undefined;
  readonly proposed: PermissionTable;
}

/** Returns a line for each new entry of which earlier runs show something, and remembers this run. @param root of the project */
export async function describeSince(root: string, tables: readonly LearnedTable[]): Promise<string[]> {
  const now: LearnedRun = {
    at: Date.now(),
    commit: (await tryGit(root, ["rev-parse", "--short", "HEAD"]))?.trim(),
  };
  return tables.flatMap(({ row, own, proposed }) => {
    const file = nameOf(root, row);
    const history = readHistory(file);
    const needed = PERMISSION_KEYS.flatMap((key) =>
      (proposed[key] ?? []).filter((entry) => !own?.[key]?.includes(entry)).map((entry) => `${key} ${entry}`),
    );
    const needs: RowHistory["needs"] = {
      ...history?.needs,
      ...Object.fromEntries(
        needed.map((entry) => [entry, history?.needs[entry] ?? { first: now, without: history?.last }]),
      ),
    };
    write(file, { last: now, needs });
    return needed.flatMap((entry) => describeNeed(entry, needs[entry]!, now));
  });
}

function describeNeed(
  entry: string,
  { first, without }: RowHistory["needs"][string],
  now: LearnedRun,
): string[] {
  const subject = oneLine(entry);
  if (first === now)
    return without ? [`${subject} was not needed by the learned run of ${describeRun(without)}`] : [];
  const before = without ? `; that of ${describeRun(without)} did not need it` : "";
  return [`${subject} is needed since the learned run of ${describeRun(first)}${before}`];
}

function describeRun({ at, commit }: LearnedRun): string {
  const time = new Date(at).toISOString().slice(0, 16).replace("T", " ");
  return `${time} UTC${commit === undefined ? "" : ` (commit ${commit})`}`;
}

function nameOf(root: string, row: string): string {
  return new Bun.CryptoHasher("sha256").update(`${root}\0${row}`).digest("hex").slice(0, 32);
}

function readHistory(file: string): RowHistory | undefined {
  try {
    return (JSON.parse(openStateFiles(KIND)?.read(file) ?? "null") as RowHistory | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(file: string, history: RowHistory): void {
  try {
    openStateFiles(KIND)?.write(file, JSON.stringify(history));
  } catch {
    return;
  }
}
