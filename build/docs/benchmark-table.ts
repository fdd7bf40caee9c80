// Generates the benchmark table in README.md from bench/results, between two marks: the most common actions, including those that are
// slower than the peer.
import { Glob } from "bun";
import { join } from "node:path";
import { format, renderTable, ROOT } from "./markdown.ts";

interface Measured {
  readonly figure: string;
  readonly ours: string;
  readonly peer: string;
  readonly ratio: string;
}

const BEGIN = "<!-- figures, made by build/docs.ts from bench/results: begin -->";
const END = "<!-- figures: end -->";

/** The rows of README.md, in this order. A row without a peer is omitted. */
export const HEADLINES = [
  "start: rt hello.ts : bun hello.ts",
  "start: rt hello.ts : node hello.ts",
  "start: rt hello.ts : deno run hello.ts",
  "start: cat hello.ts | rt run - : bun run -",
  "start: rt run hello : bun run",
  "start: rt run hello : node --run",
  "start: rt run hello : npm run hello",
  "start: rt run program : bun run",
  "start: rt run program : deno task",
  "sleep 0 in 200 packages : bun --filter",
  "one of 1000 packages : bun --filter",
  "200 MB, lines of 73 bytes : bun --filter",
  "nothing changed in 1000 packages : turbo",
  "nothing changed in 1000 packages : vp",
  "one file changed in 1000 packages : turbo",
  "one file changed in 1000 packages : vp",
  "a process that reads one secret, against Bun.secrets",
  "CSRF generate",
  "CSRF verify",
  "CSRF verify, sessionId",
  "restart under --watch, save to output : bun --watch",
  "rt --smol hello.ts : bun --smol hello.ts",
  "start: peak memory of a file : bun",
];

/** One table for each machine: figures of different machines are not comparable. */
async function renderFigures(): Promise<string> {
  const results = join(ROOT, "bench", "results");
  const files = [...new Glob("*.md").scanSync(results)];
  const pages = await Promise.all(files.map((file) => Bun.file(join(results, file)).text()));
  const machines = Map.groupBy(pages, (page) => page.split("\n")[2]!);
  const tables = [...machines].map(
    ([machine, own]) => [machine, headlinesOf(own.flatMap(readRows))] as const,
  );
  return tables
    .filter(([, rows]) => rows.length > 0)
    .map(([machine, rows]) => `On ${machine}:\n\n${tableOf(rows)}`)
    .join("\n\n");
}

function headlinesOf(rows: readonly Measured[]): Measured[] {
  return HEADLINES.flatMap((headline) => rows.filter(({ figure }) => figure === headline));
}

function tableOf(rows: readonly Measured[]): string {
  return renderTable(
    ["Measured", "rt", "Compared with", "Ratio"],
    rows.map(({ figure, ours, peer, ratio }) => [
      wordingOf(figure),
      ours,
      peer,
      `${ratio} × ${unitOf(ours)}`,
    ]),
  );
}

/** Omits the bench's name before the program's name. */
function wordingOf(figure: string): string {
  const [ours, peer] = figure.replace(/^start: /, "").split(" : ") as [string, string?];
  if (peer === undefined) return figure;
  return /\brt /.test(ours) ? `\`${ours}\`, beside \`${peer}\`` : `${ours}, beside ${peer}`;
}

/** A row ends in ratio, goal and verdict; the first cell may contain a bar. */
function readRows(page: string): Measured[] {
  const lines = page.split("\n").filter((line) => line.startsWith("| "));
  return lines.slice(2).map((line) => {
    const cells = line
      .slice(2, -2)
      .split(" | ")
      .map((cell) => cell.trim());
    const [ours, peer, ratio] = cells.slice(-5) as [string, string, string];
    return { figure: cells.slice(0, -5).join(" | "), ours, peer, ratio };
  });
}

function unitOf(value: string): string {
  if (value.endsWith("/s")) return "the rate";
  return value.endsWith("MB") ? "the memory" : "the time";
}

export async function renderReadme(): Promise<string> {
  const text = await Bun.file(join(ROOT, "README.md")).text();
  const begin = text.indexOf(BEGIN) + BEGIN.length;
  const end = text.indexOf(END);
  if (begin < BEGIN.length || end < begin) throw new Error("README.md has lost the marks around its figures");
  return format(`${text.slice(0, begin)}\n\n${await renderFigures()}\n\n${text.slice(end)}`, "README.md");
}
