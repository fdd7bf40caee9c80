// Helpers of generated Markdown pages: note, table and formatting.
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "..", "..");

/** Visible only in the source. */
export const GENERATED_NOTE = (source: string) => `<!-- Made by build/docs.ts from ${source}. -->`;

/** Cells are Markdown; bars in cells are escaped. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Formats as `bun fmt` does, so that the check of the tree passes. */
export function format(text: string, path: string): string {
  const command = [process.execPath, "fmt", "--no-script", `--stdin-filepath=${path}`];
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd: ROOT, stdin: Buffer.from(text) });
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString();
}
