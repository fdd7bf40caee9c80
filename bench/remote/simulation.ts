// Simulates a large cluster, to check that rt does not limit it: many scripts, a thousand simulated machines (cluster.ts). For
// each script rt does its whole work except files: action, missing blobs, execution, result and output.
//
//   node build/setup.mjs bench/remote/simulation.ts 100000
//
// No script runs and there is no network. The figures show the time of rt in one thread, and whether it keeps all machines
// busy. They are written to bench/results, like those of `npm run bench`.
import { join } from "node:path";
import { encodeAction } from "../../src/reapi/action.ts";
import { RemoteClient } from "../../src/reapi/client.ts";
import { blobOf } from "../../src/reapi/cas-client.ts";
import { digestOf } from "../../src/reapi/digest.ts";
import { buildInputRoot, type Input } from "../../src/reapi/input-root.ts";
import { BlobPresenceCache } from "../../src/reapi/blob-presence-cache.ts";
import { BlobUploader } from "../../src/reapi/blob-uploader.ts";
import { RetryBudget } from "../../src/reapi/grpc/retry.ts";
import { type ExecutionServices, executeAction } from "../../src/remote-execution/action-execution.ts";
import { keepResults } from "../results.ts";

const MACHINES = 1000;
/** The time of a script in ms; it exceeds all other times. */
const DURATION = 2000;
/** Number of files that all scripts read, besides one separate file each. */
const SHARED = 20;

const scripts = Number(process.argv[2] ?? 10_000);
const cluster = Bun.spawn(
  [process.execPath, join(import.meta.dir, "cluster.ts"), String(MACHINES), String(DURATION)],
  { stdin: "pipe", stdout: "pipe", stderr: "inherit" },
);
const output = cluster.stdout.getReader();
const url = new TextDecoder().decode((await output.read()).value).trim();
const { signal } = new AbortController();
const client = new RemoteClient(
  { url, instance: "", headers: {}, tls: {}, timeout: 60_000, toolVersion: "0" },
  signal,
  new RetryBudget(0),
);
const store = await client.connect();
const connection: ExecutionServices = {
  client,
  store,
  uploads: new BlobUploader(store, new BlobPresenceCache(null)),
};

const contentOf = (text: string) => {
  const bytes = Buffer.from(text);
  return { digest: digestOf(bytes), bytes };
};
const shared = Array.from({ length: SHARED }, (_, at) => contentOf(`shared ${at}\n`));
const fileOf = (path: string, { digest }: ReturnType<typeof contentOf>): Input => ({
  kind: "file",
  path,
  digest,
  isExecutable: false,
});

async function runScript(number: number): Promise<void> {
  const own = contentOf(`script ${number}\n`);
  const entries = [
    ...shared.map((each, at) => fileOf(`shared/${at}.txt`, each)),
    fileOf(`packages/p${number}/in.txt`, own),
  ];
  const root = buildInputRoot(entries);
  const script = { name: "build", outputs: ["made.txt"], env: [], inputs: [], isRemote: undefined };
  const action = encodeAction({
    argv: ["/bin/sh", "-c", "cat in.txt > made.txt"],
    environment: { PATH: "/usr/bin:/bin" },
    directory: `packages/p${number}`,
    outputs: script.outputs,
    platform: {},
    inputRoot: root.digest,
  });
  const blobs = [...root.messages, ...action.messages, ...shared, own].map(blobOf);
  const inputs = { entries, blobs: [], lateBlobs: [], trees: [], files: entries.length, bytes: 0 };
  const result = await executeAction({ script, inputs, action, blobs, separator: "" }, connection, {
    usesCache: true,
    signal,
  });
  const files = result.outputs.flatMap((each) => (each.kind === "file" ? [each.digest] : []));
  const contents = await store.download(files);
  if (result.code !== 0 || contents.size !== 1) throw new Error(`script ${number} ended otherwise`);
}

let next = 0;
async function work(): Promise<void> {
  while (next < scripts) await runScript(next++);
}
// A few more than machines, so that no machine waits for the next script.
const before = { usage: process.cpuUsage(), memory: process.memoryUsage.rss(), at: performance.now() };
await Promise.all(Array.from({ length: Math.ceil(MACHINES * 1.2) }, work));
const elapsed = (performance.now() - before.at) / 1000;
const { user, system } = process.cpuUsage(before.usage);
const memory = process.memoryUsage.rss() - before.memory;
client[Symbol.dispose]();
void cluster.stdin.end();
const { most, count } = JSON.parse(new TextDecoder().decode((await output.read()).value)) as {
  most: number;
  count: number;
};
if (count !== scripts) throw new Error(`${count} scripts were carried out, in place of ${scripts}`);
const least = (Math.ceil(scripts / MACHINES) * DURATION) / 1000;
const what = `${scripts} scripts of ${DURATION / 1000} s on ${MACHINES} simulated machines`;
const informs = { peer: "", goal: "", met: true };
await keepResults("simulation", [
  {
    ...informs,
    figure: `${what} : the least that they take`,
    ours: `${elapsed.toFixed(0)} s`,
    peer: `${least.toFixed(0)} s`,
    ratio: elapsed / least,
  },
  {
    ...informs,
    figure: `${what}: machines busy at best`,
    ours: String(most),
    peer: String(MACHINES),
    ratio: most / MACHINES,
  },
  ...[
    ["processor time a script", (user + system) / 1000 / scripts, "ms", 2] as const,
    ["memory a script", memory / 1000 / scripts, "kB", 1] as const,
  ].map(([name, value, unit, digits]) => ({
    ...informs,
    figure: `${what}: ${name}`,
    ours: `${value.toFixed(digits)} ${unit}`,
    ratio: value,
  })),
]);
