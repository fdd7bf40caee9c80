// What the generated pages share.
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "..", "..");

/** Seen by whoever opens the file to change it, and by nobody else. */
export const GENERATED_NOTE = (source: string) => `<!-- Made by build/docs.ts from ${source}. -->`;

/** Cells are Markdown; a bar in one of them is a bar. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** As `bun fmt` leaves it, so that the check of the tree has nothing to say. */
export function format(text: string, path: string): string {
  const command = [process.execPath, "fmt", "--no-script", `--stdin-filepath=${path}`];
  const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd: ROOT, stdin: Buffer.from(text) });
  if (exitCode !== 0) throw new Error(stderr.toString());
  return stdout.toString();
}
