// `npm run bench`: measures every figure side by side with its peer. Prints a table and writes it to bench/results/ in Markdown,
// and to README.md. `npm run bench -- start csrf` measures only these.
import { join } from "node:path";
import { writeDocs } from "../build/docs.ts";
import { compile, DIST } from "../build/compile.ts";
import { hostTarget } from "../build/targets.ts";
import { keepResults } from "./results.ts";
import type { Figure } from "./row.ts";

interface Bench {
  readonly name: string;
  load(): Promise<{ measure(): Promise<Figure[]> }>;
}

const BENCHES: readonly Bench[] = [
  { name: "start", load: () => import("./start/start.ts") },
  { name: "tasks", load: () => import("./tasks/workspaces.ts") },
  { name: "permissions", load: () => import("./permissions/start.ts") },
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

/** Separate, because turbo's first run of a thousand packages takes minutes. */
async function loadHits(packages: number) {
  const { measureHits } = await import("./cache/hits.ts");
  return { measure: async () => await measureHits(packages) };
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
for (const { name, load } of chosen) {
  console.error(`measuring ${name} ...`);
  const { measure } = await load();
  await keepResults(name, await measure());
}
await writeDocs();
