// Measures runs of scripts in many packages: processes, lines, bytes, and finding one package among a thousand.
//
// `true` is a builtin of bash; `sleep 0` is a program, which rt starts without a shell.
//
// All output goes through a pipe into `cat`, as in a CI job, because a reader that reads nothing would hide the cost of
// writing. The prefixer's memory is measured on the process itself, without the pipe.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { BUN, findPeer } from "../peers.ts";
import { copyPrograms, measureMemory, type TimedCommand, timeCommands } from "../processes.ts";
import { compareTimes, type Figure } from "../row.ts";
import { measurePlan } from "./plan.ts";

const RT = join(import.meta.dir, "..", "..", "dist", "rt");
const BIG = 200_000_000; // bytes

interface Layout {
  readonly packages: number;
  readonly script: string;
  /** Each package depends on the one before. */
  readonly isChain?: boolean;
}

async function createWorkspace(
  directory: string,
  { packages, script, isChain = false }: Layout,
): Promise<string> {
  await mkdir(directory);
  await Bun.write(
    join(directory, "package.json"),
    JSON.stringify({ name: "root", workspaces: ["packages/*"] }),
  );
  for (let index = 0; index < packages; index += 1) {
    const dependencies = isChain && index > 0 ? { [`p${index - 1}`]: "workspace:*" } : {};
    const scripts = index === 7 ? { t: script, one: "true" } : { t: script };
    const manifest = { name: `p${index}`, version: "1.0.0", scripts, dependencies };
    await Bun.write(join(directory, "packages", `p${index}`, "package.json"), JSON.stringify(manifest));
  }
  return directory;
}

/** Returns `bytes` of lines with the given `length`, line break included; 0 for one line without an end. */
async function writeLines(file: string, bytes: number, length: number): Promise<string> {
  const writer = Bun.file(file).writer();
  const line = length === 0 ? "x".repeat(100_000) : `${"x".repeat(length - 1)}\n`;
  const block = Buffer.from(line.repeat(Math.ceil(1_000_000 / line.length)));
  for (let written = 0; written < bytes; written += block.length) {
    void writer.write(block);
    await writer.flush();
  }
  await writer.end();
  return file;
}

const piped = (name: string, command: string): TimedCommand => ({
  name,
  argv: ["sh", "-c", `${command} | cat >/dev/null`],
});

export async function measure(): Promise<Figure[]> {
  const denoProgram = findPeer("deno");
  const optional: Record<string, string> = denoProgram === undefined ? {} : { deno: denoProgram };
  await using programs = await copyPrograms({ rt: RT, bun: BUN, ...optional });
  const { directory, paths } = programs;
  const rt = `${paths.rt} run`;
  const bun = `${paths.bun} run`;
  const rows: Figure[] = [];

  function compare(
    figure: string,
    cwd: string,
    runs: number,
    ours: string,
    peers: Record<string, [command: string, goal: number | undefined]>,
  ): void {
    const commands = [
      piped("rt", ours),
      ...Object.entries(peers).map(([name, [command]]) => piped(name, command)),
    ];
    const goals = Object.fromEntries(Object.entries(peers).map(([name, [, goal]]) => [name, goal]));
    rows.push(...compareTimes(figure, timeCommands(commands, runs, cwd), goals, 1));
  }

  const all = "--filter '*' t";
  const programs200 = await createWorkspace(join(directory, "programs200"), {
    packages: 200,
    script: "sleep 0",
  });
  compare("sleep 0 in 200 packages", programs200, 9, `${rt} ${all}`, {
    "bun --filter": [`${bun} ${all}`, 0.8],
    "xargs -P2 bash -c 'sleep 0'": ["seq 200 | xargs -P2 -I{} bash -c 'sleep 0'", 1],
  });
  for (const [packages, runs] of [
    [200, 9],
    [1000, 5],
  ] as const) {
    const flat = await createWorkspace(join(directory, `flat${packages}`), { packages, script: "true" });
    compare(`true in ${packages} packages`, flat, runs, `${rt} ${all}`, {
      "bun --filter": [`${bun} ${all}`, 0.8],
      "xargs -P2 bash -c true": [`seq ${packages} | xargs -P2 -I{} bash -c true`, 1],
    });
    // `bun run --filter` ignores its option --shell. deno runs the scripts in its own process, so it has no goal.
    compare(`true in ${packages} packages with --shell rt`, flat, runs, `${rt} --shell rt ${all}`, {
      "xargs -P2 bun exec true": [`seq ${packages} | xargs -P2 -I{} ${paths.bun} exec true`, 1.2],
      ...(paths.deno !== undefined && {
        "deno task -r": [`NO_COLOR=1 ${paths.deno} task -q -r t`, undefined],
      }),
    });
  }
  const chain = await createWorkspace(join(directory, "chain"), {
    packages: 200,
    script: "true",
    isChain: true,
  });
  compare("true in a chain of 200", chain, 9, `${rt} ${all}`, { "bun --filter": [`${bun} ${all}`, 0.8] });
  compare("one of 1000 packages", join(directory, "flat1000"), 21, `${rt} --filter p7 one`, {
    "bun --filter": [`${bun} --filter p7 one`, 1],
  });

  rows.push(...(await measurePlan(paths.rt!, join(directory, "plan"), 9)));

  const lines = await createWorkspace(join(directory, "lines"), { packages: 50, script: "seq 100000" });
  compare("seq 100000 in 50 packages", lines, 3, `${rt} ${all}`, { "bun --filter": [`${bun} ${all}`, 0.8] });
  compare("the same with --parallel", lines, 3, `${rt} --parallel ${all}`, {
    "bun --filter": [`${bun} ${all}`, 0.8],
  });

  for (const [name, length, bytes] of [
    ["lines of 73 bytes", 73, BIG],
    ["lines of 2 bytes", 2, BIG / 10],
    ["one line", 0, BIG],
  ] as const) {
    const file = await writeLines(join(directory, `bytes${length}`), bytes, length);
    const big = await createWorkspace(join(directory, `big${length}`), {
      packages: 1,
      script: `cat ${file}`,
    });
    compare(`${bytes / 1e6} MB, ${name}`, big, 7, `${rt} ${all}`, { "bun --filter": [`${bun} ${all}`, 1] });
    const memory = measureMemory([paths.rt!, "run", "--filter", "*", "t"], big);
    rows.push({
      figure: `${bytes / 1e6} MB, ${name}: peak memory`,
      ours: `${memory.toFixed(0)} MB`,
      peer: "",
      ratio: memory,
      goal: "<= 80",
      met: memory <= 80,
    });
  }
  return rows;
}
