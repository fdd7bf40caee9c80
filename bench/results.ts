// Writes figures as a table to the terminal and, in Markdown, to bench/results/, from which README.md is generated.
import { mkdir } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { hostTarget } from "../build/targets.ts";
import type { Figure } from "./row.ts";

function format(rows: readonly Figure[]): string[] {
  const verdict = ({ goal, met }: Figure) => (goal === "" ? "" : met ? "met" : "MISSED");
  const cells = rows.map((row) => [
    row.figure,
    row.ours,
    row.peer,
    row.ratio.toFixed(2),
    row.goal,
    verdict(row),
  ]);
  const table = [["figure", "rt", "peer", "ratio", "goal", ""], ...cells];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const lines = table.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [lines[0]!, rule, ...lines.slice(1)];
}

/** @param name the name of the bench */
export async function keepResults(name: string, rows: readonly Figure[]): Promise<void> {
  const machine = `${hostTarget().name}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}, engine ${Bun.version}`;
  const directory = join(import.meta.dir, "results");
  await mkdir(directory, { recursive: true });
  const lines = format(rows);
  console.log(`${lines.join("\n")}\n`);
  await Bun.write(join(directory, `${name}.md`), `${[`# ${name}`, "", machine, "", ...lines].join("\n")}\n`);
}
