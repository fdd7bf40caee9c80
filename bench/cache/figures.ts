// What the cache of scripts saves and costs: a run of many packages in which nothing has changed, or one file, beside turbo's;
// and what it costs to follow a script, beside the same script without that.
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPeer } from "../peers.ts";
import { copyPrograms, type TimedCommand, timeCommands } from "../processes.ts";
import { compareTimes, type Row } from "../row.ts";
import { measureShared } from "./shared.ts";

const ROOT = join(import.meta.dir, "..", "..");
const RT = join(ROOT, "dist", "rt");
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

const WORKLOADS: Readonly<Record<string, readonly [script: string, goal: number]>> = {
  "node script": ["node work.cjs", 1.2],
  vite: ["vite build", 1.05],
  vitest: ["vitest run --globals", 1.2],
};

export async function measure(): Promise<Row[]> {
  const turbo = findPeer("turbo");
  const optional: Record<string, string> = turbo === undefined ? {} : { turbo };
  await using programs = await copyPrograms({ rt: RT, ...optional });
  const { directory, paths } = programs;
  const env = { XDG_CACHE_HOME: join(directory, "cache"), TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" };
  const rows: Row[] = [];
  const shell = (name: string, command: string): TimedCommand => ({ name, argv: ["sh", "-c", command], env });
  const rt = `${paths.rt} --filter '*' run build`;
  for (const packages of [200, 1000]) {
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
    rows.push(...compareTimes(`nothing changed in ${packages} packages`, hits, { turbo: 0.5 }, 1));
    const one = timeCommands([shell("rt", CHANGE + rt), ...peer(CHANGE)], RUNS, cwd);
    rows.push(...compareTimes(`one file changed in ${packages} packages`, one, { turbo: 0.5 }, 1));
  }
  rows.push(...(await measureShared(paths.rt!, directory)));
  rows.push(...(await measureFollowing(paths.rt!, env)));
  return rows;
}

async function measureFollowing(rt: string, env: Readonly<Record<string, string>>): Promise<Row[]> {
  const cwd = await mkdtemp(join(tmpdir(), "rt-bench-"));
  try {
    const write = async (path: string, text: string) => await Bun.write(join(cwd, path), text);
    const scripts = Object.fromEntries(Object.entries(WORKLOADS).map(([name, [script]]) => [name, script]));
    await write("package.json", JSON.stringify({ name: "p", scripts: { ...scripts, true: "/bin/true" } }));
    await write(
      "rtfig.toml",
      `[run.cache]\n${[...Object.keys(WORKLOADS), "true"].map((name) => `"${name}" = true`).join("\n")}\n`,
    );
    await write("index.html", '<script type="module" src="/src/0.ts"></script>');
    for (let file = 0; file < 100; file += 1)
      await write(`src/${file}.ts`, file === 99 ? "console.log(1)" : `import "./${file + 1}";\n`);
    await write("src/a.test.ts", 'test("a", () => expect(1).toBe(1));\n');
    await write("work.cjs", 'for (let i = 0; i < 99; i++) require("fs").readFileSync(`src/${i}.ts`)');
    await symlink(join(ROOT, "node_modules"), join(cwd, "node_modules"));
    const rows: Row[] = [];
    for (const [name, goal] of [
      ...Object.entries(WORKLOADS).map(([name, [, most]]) => [name, most] as const),
      ["true", undefined] as const,
    ]) {
      const command = (how: string): TimedCommand => ({
        name: how,
        argv: [rt, `--${how}`, "run", name],
        env,
      });
      const [followed, plain] = timeCommands([command("force"), command("no-cache")], RUNS, cwd);
      rows.push(
        ...compareTimes(
          `${name}, followed and kept`,
          [followed!, { ...plain!, name: "not cached" }],
          { "not cached": goal },
          1,
        ),
      );
    }
    return rows;
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}
