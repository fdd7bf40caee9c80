// A run of many packages in which nothing has changed, or one file, beside turbo's: what is left when nothing has to run.
import { join } from "node:path";
import { findPeer } from "../peers.ts";
import { copyPrograms, type TimedCommand, timeCommands } from "../processes.ts";
import { compareTimes, type Row } from "../row.ts";

const RT = join(import.meta.dir, "..", "..", "dist", "rt");
/** Three rounds are not counted, so that what is kept has been made. */
const RUNS = 9;

async function createWorkspace(directory: string, packages: number): Promise<string> {
  const write = async (path: string, content: unknown) =>
    await Bun.write(join(directory, path), typeof content === "string" ? content : JSON.stringify(content));
  await write("package.json", { name: "root", workspaces: ["packages/*"], packageManager: "npm@10.0.0" });
  await write("rtfig.toml", "[run.cache]\nbuild = true\n");
  await write("turbo.json", { tasks: { build: { outputs: ["dist/**"] } } });
  await write(".gitignore", "dist\nnode_modules\n.turbo\n");
  for (let index = 0; index < packages; index += 1) {
    const at = `packages/p${index}`;
    const build = "mkdir -p dist && cat src/*.txt > dist/out";
    await write(`${at}/package.json`, { name: `p${index}`, version: "1.0.0", scripts: { build } });
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

const CHANGE = "date +%s%N > packages/p7/src/0.txt; ";

export async function measureHits(packages: number): Promise<Row[]> {
  const turbo = findPeer("turbo");
  await using programs = await copyPrograms({ rt: RT, ...(turbo !== undefined && { turbo }) });
  const { directory, paths } = programs;
  const env = { XDG_CACHE_HOME: join(directory, "cache"), TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" };
  const shell = (name: string, command: string): TimedCommand => ({ name, argv: ["sh", "-c", command], env });
  const rt = `${paths.rt} --filter '*' run build`;
  const cwd = await createWorkspace(join(directory, `hits${packages}`), packages);
  // Nobody else's processes are to be in the way of the first, which takes long.
  Bun.spawnSync(["sh", "-c", rt], {
    cwd,
    env: { ...process.env, ...env },
    stdout: "ignore",
    stderr: "ignore",
  });
  const peer = (before: string) =>
    paths.turbo === undefined ? [] : [shell("turbo", `${before}${paths.turbo} run build`)];
  const hits = timeCommands([shell("rt", rt), ...peer("")], RUNS, cwd);
  const one = timeCommands([shell("rt", CHANGE + rt), ...peer(CHANGE)], RUNS, cwd);
  return [
    ...compareTimes(`nothing changed in ${packages} packages`, hits, { turbo: 0.5 }, 1),
    ...compareTimes(`one file changed in ${packages} packages`, one, { turbo: 0.5 }, 1),
  ];
}
