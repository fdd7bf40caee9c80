// What the cache of scripts costs: what is shared with others, and following a script, beside the same script without that.
// What it saves, hits.ts says.
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyPrograms, type TimedCommand, timeCommands } from "../processes.ts";
import { compareTimes, type Row } from "../row.ts";
import { measureShared } from "./shared.ts";

const ROOT = join(import.meta.dir, "..", "..");
const RT = join(ROOT, "dist", "rt");
/** Three rounds are not counted, so that what is kept has been made. */
const RUNS = 9;

const WORKLOADS: Readonly<Record<string, readonly [script: string, goal: number]>> = {
  "node script": ["node work.cjs", 1.2],
  vite: ["vite build", 1.05],
  vitest: ["vitest run --globals", 1.2],
};

export async function measure(): Promise<Row[]> {
  await using programs = await copyPrograms({ rt: RT });
  const { directory, paths } = programs;
  const env = { XDG_CACHE_HOME: join(directory, "cache") };
  const rows: Row[] = [];
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
