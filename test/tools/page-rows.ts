// Updates a page's table of tools, which has the head's first cell. Tools without a trial keep their rows; the order is that of
// the projects.
import { join } from "node:path";
import { format, renderTable } from "../../build/docs/markdown.ts";
import { REPOSITORY } from "../support/rt.ts";

type Row = readonly string[];

/** Returns the present rows by the tool's name. */
function readRows(table: string): Map<string, Row> {
  const lines = table.split("\n").slice(2);
  // renderTable() escapes bars in cells again.
  const cellsOf = (line: string) => line.split(/(?<!\\)\|/).slice(1, -1);
  const rows = lines.map((line) => cellsOf(line).map((cell) => cell.trim().replaceAll("\\|", "|")));
  return new Map(rows.map((row) => [row[0]!, row]));
}

/** @param tools all tools in the table's order @param tried rows of the trials; one without a version is ignored */
export async function writeRows(
  file: string,
  head: Row,
  tools: readonly string[],
  tried: readonly Row[],
): Promise<void> {
  const path = join(REPOSITORY, file);
  const page = await Bun.file(path).text();
  const pattern = new RegExp(`(?<=^|\\n)\\| ${RegExp.escape(head[0]!)} +\\|[\\s\\S]*?(?=\\n\\n|$)`);
  const present = pattern.exec(page)![0];
  const rows = new Map([
    ...readRows(present),
    ...tried.filter((row) => row[1] !== "").map((row) => [row[0]!, row] as const),
  ]);
  const table = renderTable(
    head,
    tools.flatMap((tool) => (rows.has(tool) ? [rows.get(tool)!] : [])),
  );
  await Bun.write(
    path,
    format(
      page.replace(present, () => table),
      path,
    ),
  );
}
