// `npm run bench`: every figure beside its peer, measured side by side in this run. Prints a table, and leaves it
// in bench/results/ as Markdown, and in README.md. `npm run bench -- start csrf` measures only these.
import { mkdir } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { writeDocs } from "../build/docs.ts";
import { compile, DIST } from "../build/compile.ts";
import { hostTarget } from "../build/targets.ts";
import type { Row } from "./row.ts";

interface Bench {
  readonly name: string;
  load(): Promise<{ measure(): Promise<Row[]> }>;
}

const BENCHES: readonly Bench[] = [
  { name: "start", load: () => import("./start/start.ts") },
  { name: "tasks", load: () => import("./tasks/workspaces.ts") },
  { name: "share", load: () => import("./tasks/share.ts") },
  { name: "cache", load: () => import("./cache/figures.ts") },
  { name: "cache-200", load: () => loadHits(200) },
  { name: "cache-1000", load: () => loadHits(1000) },
  { name: "remote", load: () => import("./remote/figures.ts") },
  { name: "secrets", load: () => import("./secrets/figures.ts") },
  { name: "redaction", load: () => import("./redaction/figures.ts") },
  { name: "options", load: () => import("./options/restart.ts") },
  { name: "debugger", load: () => import("./debugger/start.ts") },
  { name: "csrf-rates", load: () => import("./csrf/rates.ts") },
  { name: "csrf-timing", load: () => import("./csrf/timing.ts") },
  { name: "csrf-requests", load: () => import("./csrf/requests.ts") },
];

/** Apart, since turbo's first run of a thousand packages takes minutes. */
async function loadHits(packages: number) {
  const { measureHits } = await import("./cache/hits.ts");
  return { measure: async () => await measureHits(packages) };
}

function format(rows: readonly Row[]): string[] {
  const verdict = ({ goal, met }: Row) => (goal === "" ? "" : met ? "met" : "MISSED");
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

const wanted = process.argv.slice(2);
const chosen = BENCHES.filter(
  ({ name }) => wanted.length === 0 || wanted.some((word) => name.startsWith(word)),
);
if (chosen.length === 0) {
  console.error(`error: No bench is called ${wanted.join(" or ")}`);
  console.error(`hint: there are ${BENCHES.map(({ name }) => name).join(", ")}`);
  process.exit(1);
}
const target = hostTarget();
await compile(target, join(DIST, target.file));
const machine = `${target.name}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}, engine ${Bun.version}`;
const results = join(import.meta.dir, "results");
await mkdir(results, { recursive: true });
for (const { name, load } of chosen) {
  console.error(`measuring ${name} ...`);
  const { measure } = await load();
  const lines = format(await measure());
  console.log(`${lines.join("\n")}\n`);
  await Bun.write(join(results, `${name}.md`), `${[`# ${name}`, "", machine, "", ...lines].join("\n")}\n`);
}
await writeDocs();
