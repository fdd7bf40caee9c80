// Measures a run of many packages without changes, or with one changed file. The peers are turbo, vite-plus, nx and wireit,
// without daemons, since rt has none.
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { findPeer, PEER_MODULES } from "../peers.ts";
import { copyPrograms, type TimedCommand, timeCommands } from "../processes.ts";
import { compareTimes, type Figure } from "../row.ts";

const RT = join(import.meta.dir, "..", "..", "dist", "rt");
/** Three uncounted rounds create the cache entries. */
const RUNS = 9;
/** Number of packages. With more, the first runs of nx and wireit take many minutes. */
const MOST_OF_SLOW = 200;
const GOAL = 0.5;

async function createWorkspace(directory: string, packages: number): Promise<string> {
  const write = async (path: string, content: unknown) =>
    await Bun.write(join(directory, path), typeof content === "string" ? content : JSON.stringify(content));
  const names = Array.from({ length: packages }, (_, index) => `p${index}`);
  await write("package.json", {
    name: "root",
    workspaces: ["packages/*"],
    packageManager: "npm@10.0.0",
    scripts: { [KEPT]: "wireit" },
    wireit: { [KEPT]: { dependencies: names.map((name) => `./packages/${name}:${KEPT}`) } },
  });
  await write("rtfig.toml", "[run.cache]\nbuild = true\n");
  await write("turbo.json", { tasks: { build: { outputs: ["dist/**"] } } });
  const inputs = ["{projectRoot}/src/**"];
  const build = { cache: true, inputs, outputs: ["{projectRoot}/dist"] };
  await write("nx.json", { targetDefaults: { build }, analytics: false });
  await write("vite.config.ts", "export default { run: { cache: { scripts: true } } };\n");
  await write(".gitignore", "dist\nnode_modules\n.turbo\n.nx\n.wireit\n");
  await symlink(PEER_MODULES, join(directory, "node_modules")).catch(() => {});
  for (const [index, name] of names.entries()) {
    const at = `packages/${name}`;
    const command = "mkdir -p dist && cat src/*.txt > dist/out";
    await write(`${at}/package.json`, {
      name,
      version: "1.0.0",
      scripts: { build: command, [KEPT]: "wireit" },
      wireit: { [KEPT]: { command, files: ["src/**"], output: ["dist/**"] } },
    });
    for (let file = 0; file < 5; file += 1) await write(`${at}/src/${file}.txt`, `${index} ${file}\n`);
  }
  for (const words of [
    ["init", "-q"],
    ["add", "-A"],
    ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
  ])
    Bun.spawnSync(["git", ...words], { cwd: directory });
  return directory;
}

/** The name of the script that wireit runs; a separate script calls wireit. */
const KEPT = "build-kept";

/** Returns the command line of a run of all packages, by peer. */
function peerCommands(packages: number, turbo: string | undefined): Record<string, string> {
  const node = findPeer("node");
  const script = (peer: "nx" | "wireit" | "vp") => {
    const path = findPeer(peer);
    return node === undefined || path === undefined ? undefined : `${node} ${path}`;
  };
  const [vp, nx, wireit] = [script("vp"), script("nx"), script("wireit")];
  const isSmall = packages <= MOST_OF_SLOW;
  return {
    ...(turbo && { turbo: `${turbo} run build` }),
    ...(vp && { vp: `${vp} run -r build` }),
    ...(nx && isSmall && { nx: `NX_DAEMON=false ${nx} run-many -t build` }),
    ...(wireit &&
      isSmall && { wireit: `npm_lifecycle_event=${KEPT} npm_package_json="$PWD/package.json" ${wireit}` }),
  };
}

const CHANGE = "date +%s%N > packages/p7/src/0.txt; ";

export async function measureHits(packages: number): Promise<Figure[]> {
  const turbo = findPeer("turbo");
  await using programs = await copyPrograms({ rt: RT, ...(turbo !== undefined && { turbo }) });
  const { directory, paths } = programs;
  const env = { XDG_CACHE_HOME: join(directory, "cache"), TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" };
  const commands = { rt: `${paths.rt} --filter '*' run build`, ...peerCommands(packages, paths.turbo) };
  // Separate workspaces, because files that one tool writes are changes to the others.
  for (const name of Object.keys(commands)) await createWorkspace(join(directory, "for", name), packages);
  const times = (before: string) =>
    timeCommands(
      Object.entries(commands).map(([name, command]): TimedCommand => {
        const cwd = join(directory, "for", name);
        return { name, argv: ["sh", "-c", `cd ${cwd}; ${before}${command}`], env };
      }),
      RUNS,
      directory,
    );
  const { rt: _rt, ...peers } = commands;
  const goals = Object.fromEntries(Object.keys(peers).map((name) => [name, GOAL]));
  const hits = times("");
  const one = times(CHANGE);
  // Both times include the start of the changed script, which is most of the time for a few packages.
  const goalsOfOne = packages > MOST_OF_SLOW ? goals : {};
  return [
    ...compareTimes(`nothing changed in ${packages} packages`, hits, goals, 1),
    ...compareTimes(`one file changed in ${packages} packages`, one, goalsOfOne, 1),
  ];
}
