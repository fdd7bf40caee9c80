// A run of many packages in which nothing has changed, or one file, beside those of turbo, vite-plus, nx and wireit: what is
// left when nothing has to run. None of them has a daemon here, since rt has none.
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { findPeer, PEER_MODULES } from "../peers.ts";
import { copyPrograms, type TimedCommand, timeCommands } from "../processes.ts";
import { compareTimes, type Row } from "../row.ts";

const RT = join(import.meta.dir, "..", "..", "dist", "rt");
/** Three rounds are not counted, so that what is kept has been made. */
const RUNS = 9;
/** Packages. Of more, the first runs of nx and wireit take many minutes. */
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

/** The script as wireit has it, which wants to be what a script calls. */
const KEPT = "build-kept";

/** What is typed for a run of all, by the peer that is asked. */
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

export async function measureHits(packages: number): Promise<Row[]> {
  const turbo = findPeer("turbo");
  await using programs = await copyPrograms({ rt: RT, ...(turbo !== undefined && { turbo }) });
  const { directory, paths } = programs;
  const env = { XDG_CACHE_HOME: join(directory, "cache"), TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" };
  const commands = { rt: `${paths.rt} --filter '*' run build`, ...peerCommands(packages, paths.turbo) };
  // Each in a workspace of its own: what one writes there is a change to the others.
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
  // The start of the changed script is in both times: in a few packages it is most of them.
  const goalsOfOne = packages > MOST_OF_SLOW ? goals : {};
  return [
    ...compareTimes(`nothing changed in ${packages} packages`, hits, goals, 1),
    ...compareTimes(`one file changed in ${packages} packages`, one, goalsOfOne, 1),
  ];
}
