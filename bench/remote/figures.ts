// Measures the overhead of a remote script: one with a thousand input files, one of which has changed, and one with a single
// input. The server executes nothing, so the times contain no execution.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { copyPrograms, timeCommands } from "../processes.ts";
import type { Figure } from "../row.ts";

const ROOT = join(import.meta.dir, "..", "..");
const RUNS = 15;
const FILES = 1000;
const GOAL = 50; // ms

async function createPackage(directory: string, url: string, files: number): Promise<void> {
  await mkdir(directory);
  const system = `${process.platform}-${process.arch}`;
  await Bun.write(join(directory, "package.json"), JSON.stringify({ scripts: { build: "true" } }));
  await Bun.write(join(directory, "rtfig.toml"), `[run.remote]\nurl = "${url}"\nsystem = "${system}"\n`);
  for (let file = 0; file < files; file += 1)
    await Bun.write(join(directory, `src/${file}.txt`), `${file}\n`.repeat(300));
  for (const words of [
    ["init", "-q"],
    ["add", "-A"],
  ])
    Bun.spawnSync(["git", ...words], { cwd: directory });
}

export async function measure(): Promise<Figure[]> {
  await using programs = await copyPrograms({ rt: join(ROOT, "dist", "rt") });
  const { directory, paths } = programs;
  const server = Bun.spawn([process.execPath, join(import.meta.dir, "server.ts")], { stdout: "pipe" });
  try {
    const { value } = await server.stdout.getReader().read();
    const url = new TextDecoder().decode(value).trim();
    const command = async (name: string, files: number) => {
      const cwd = join(directory, name);
      await createPackage(cwd, url, files);
      const line = [
        `cd ${cwd} && date +%s%N > src/0.txt`,
        `XDG_CACHE_HOME=${directory} ${paths.rt} run --remote --silent build`,
      ].join(" && ");
      return { name, argv: ["sh", "-c", line] };
    };
    const commands = [await command("many", FILES), await command("one", 1)];
    const [many, one] = timeCommands(commands, RUNS, directory);
    const beside = many!.median - one!.median;
    return [
      {
        figure: `--remote, one changed file of ${FILES} : a script that reads one file`,
        ours: `${many!.median.toFixed(1)} ms`,
        peer: `${one!.median.toFixed(1)} ms`,
        ratio: beside / GOAL,
        goal: `<= 1, of ${GOAL} ms more`,
        met: beside <= GOAL,
      },
    ];
  } finally {
    server.kill();
  }
}
