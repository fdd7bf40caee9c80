// The table of tools of a page of docs/: the first one there whose head begins with "Tool". What a run has tried gets a new
// row, the others stay as they are, and all have the order of the table of projects.
import { join } from "node:path";
import { format, renderTable } from "../../build/docs/markdown.ts";
import { REPOSITORY } from "../support/rt.ts";

type Row = readonly string[];

const TABLE = /\| Tool [\s\S]*?(?=\n\n|$)/;

/** The cells of the table as it is, by the tool's name. */
function readRows(page: string): Map<string, Row> {
  const lines = TABLE.exec(page)![0].split("\n").slice(2);
  // A bar in a cell has a backslash, which is for renderTable() to write.
  const cellsOf = (line: string) => line.split(/(?<!\\)\|/).slice(1, -1);
  const rows = lines.map((line) => cellsOf(line).map((cell) => cell.trim().replaceAll("\\|", "|")));
  return new Map(rows.map((row) => [row[0]!, row]));
}

/** @param tools all of them, in their order @param made a trial without a version was none, and leaves the row as it is */
export async function writeRows(
  file: string,
  head: Row,
  tools: readonly string[],
  made: readonly Row[],
): Promise<void> {
  const path = join(REPOSITORY, file);
  const page = await Bun.file(path).text();
  const rows = new Map([
    ...readRows(page),
    ...made.filter((row) => row[1] !== "").map((row) => [row[0]!, row] as const),
  ]);
  const table = renderTable(
    head,
    tools.flatMap((tool) => (rows.has(tool) ? [rows.get(tool)!] : [])),
  );
  await Bun.write(
    path,
    format(
      page.replace(TABLE, () => table),
      path,
    ),
  );
}
