// Measures hits from a shared cache: three files of each of many packages, over the Remote Execution API and over turbo's
// protocol. The servers run on this machine, and the comparison is rt's local store.
//
// The difference for each hit is the overhead of the protocol. A run with a single hit also loads the protocol's modules.
//
// The server of the Remote Execution API is the tests' server in the engine; real servers are faster.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { hashIn } from "../../test/support/trusted.ts";
import { median } from "../processes.ts";
import type { Figure } from "../row.ts";

const ROOT = join(import.meta.dir, "..", "..");
const PACKAGES = 100;
const ROUNDS = 9;
const GOAL = 10; // ms
const KEY = "bench";

/** The source of the hits. */
type Origin = "own" | "turbo" | "reapi";

const REAPI_SERVER = `
  import { openReapiServer } from ${JSON.stringify(join(ROOT, "test/support/servers/reapi-server.ts"))};
  console.log((await openReapiServer({ inlines: true })).url);
`;

interface Started extends Disposable {
  readonly url: string;
}

/** @param url matches the address in the line that the server prints when it is ready */
async function startServer(argv: readonly string[], url: RegExp): Promise<Started> {
  const child = Bun.spawn([...argv], { cwd: ROOT, stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  let text = "";
  for await (const chunk of child.stdout) {
    text += new TextDecoder().decode(chunk);
    const [, found] = url.exec(text) ?? [];
    if (found !== undefined) return { url: found, [Symbol.dispose]: () => child.kill("SIGKILL") };
  }
  throw new Error(`${argv[0]} does not serve: ${text}`);
}

/** @param directory a private directory for files */
export async function measureShared(rt: string, directory: string): Promise<Figure[]> {
  const tokens = join(directory, "tokens.txt");
  const { stdout } = Bun.spawnSync([rt, "cache", "token", tokens, "bench", "write"]);
  const token = stdout.toString().trim();
  using reapi = await startServer([process.execPath, "-e", REAPI_SERVER], /(grpc:\/\/\S+)\n/);
  const serve = [
    rt,
    "cache",
    "serve",
    `--tokens=${tokens}`,
    "--port=0",
    `--store=${join(directory, "served")}`,
  ];
  using turbo = await startServer(serve, /(http:\/\/\S+)\/:/);
  const cwd = join(directory, "shared");
  await createWorkspace(cwd, { reapi: reapi.url, turbo: turbo.url });

  async function time(origin: Origin, filter: string): Promise<number> {
    const cache = join(directory, `cache-${origin}`);
    await mkdir(cache, { recursive: true });
    for (let index = 0; index < PACKAGES; index += 1)
      await rm(join(cwd, `packages/p${index}/dist`), { recursive: true, force: true });
    if (origin !== "own")
      for await (const path of new Bun.Glob("rt/scripts-*/{keys,blobs}").scan({
        cwd: cache,
        onlyFiles: false,
        absolute: true,
      }))
        await rm(path, { recursive: true });
    const variables = { PATH: process.env.PATH, HOME: process.env.HOME, XDG_CACHE_HOME: cache };
    const env = { ...variables, TURBO_TOKEN: token, TURBO_REMOTE_CACHE_SIGNATURE_KEY: KEY };
    const { stderr } = Bun.spawnSync([rt, "trust", `--config=${origin}.toml`], { cwd, env });
    const RT_TRUST = hashIn({ stderr: stderr.toString() }) ?? "";
    const start = Bun.nanoseconds();
    const child = Bun.spawn([rt, `--config=${origin}.toml`, "--filter", filter, "run", "build"], {
      cwd,
      env: { ...env, RT_TRUST },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    const errorOutput = await new Response(child.stderr).text();
    const elapsed = (Bun.nanoseconds() - start) / 1e6;
    if ((await child.exited) !== 0 || errorOutput.includes("warn")) throw new Error(errorOutput);
    return elapsed;
  }

  const rows: Figure[] = [];
  for (const [filter, hits] of [
    ["*", PACKAGES],
    ["p7", 1],
  ] as const) {
    const times: Record<Origin, number[]> = { own: [], turbo: [], reapi: [] };
    // The first two rounds create the cache entries and the other stored files.
    for (let round = -2; round < ROUNDS; round += 1)
      for (const origin of ["reapi", "own", "turbo"] as const) {
        const elapsed = await time(origin, filter);
        if (round >= 0) times[origin].push(elapsed);
      }
    const above = (origin: Origin) =>
      median(times[origin].map((each, round) => (each - times.own[round]!) / hits));
    const cost = above("reapi");
    rows.push({
      figure:
        hits === 1
          ? "one hit of 3 files from others, above one's own : the same over turbo's protocol"
          : `a hit of 3 files from others, of ${hits}, above one's own : the same over turbo's protocol`,
      ours: `${cost.toFixed(1)} ms`,
      peer: `${above("turbo").toFixed(1)} ms`,
      ratio: cost,
      goal: hits === 1 ? "" : `<= ${GOAL} ms`,
      met: hits === 1 || cost <= GOAL,
    });
  }
  return rows;
}

async function createWorkspace(
  cwd: string,
  urls: Readonly<Record<"reapi" | "turbo", string>>,
): Promise<void> {
  const write = async (path: string, text: string) => await Bun.write(join(cwd, path), text);
  await write("package.json", JSON.stringify({ name: "root", workspaces: ["packages/*"] }));
  const rules = "[run.cache]\nbuild = true\n";
  await write("own.toml", rules);
  for (const [name, url] of Object.entries(urls))
    await write(`${name}.toml`, `${rules}[cache.remote]\nurl = "${url}"\n`);
  const build = "mkdir -p dist && for i in 1 2 3; do cat source > dist/$i; done";
  for (let index = 0; index < PACKAGES; index += 1) {
    await write(`packages/p${index}/package.json`, JSON.stringify({ name: `p${index}`, scripts: { build } }));
    await write(`packages/p${index}/source`, `${index}\n`.repeat(1000));
  }
}
