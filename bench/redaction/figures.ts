// Measures the overhead of redaction: a start, a flood through a pipe with prefixes, and one through rt's pseudo-terminal. The
// comparison is the same run with --no-redact.
//
// The values come from the environment, so that no store is measured. Both sides get a terminal from `script` of util-linux.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createRandom } from "../../test/support/random.ts";
import { cleanEnvironment } from "../../test/support/rt.ts";
import { startOnTerminal, type TerminalProgram } from "../../test/support/programs/terminal.ts";
import { copyPrograms, measureMemory, median, type TimedCommand, timeCommands } from "../processes.ts";
import { compareTimes, type Figure } from "../row.ts";

const RT = join(import.meta.dir, "..", "..", "dist", "rt");
const LINES = 2_500_000; // lines of about 80 bytes: 200 MB
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

async function createProject(directory: string, log: string, count: number): Promise<string> {
  await mkdir(directory);
  const names = Array.from({ length: count }, (_, index) => `VALUE_${index}`);
  const tables = names.map((name) => `[secrets.${name}]\nfrom = "bench/${name}"\n`).join("");
  await Bun.write(join(directory, "rtfig.toml"), `${tables}[run.secrets]\n"*" = ${JSON.stringify(names)}\n`);
  const scripts = { log: `cat ${log}`, hello: "/bin/echo hello", cat: "cat", seq: "seq 2000000" };
  await Bun.write(join(directory, "package.json"), JSON.stringify({ scripts }));
  return directory;
}

async function writeLog(file: string): Promise<string> {
  const random = createRandom(1);
  const word = (length: number) => Array.from({ length }, () => random.pick(LETTERS)).join("");
  const line = (index: number) =>
    `2026-01-01T00:00:${index % 60} request ${word(12)} of ${word(5)} took ${index} ms, and no more of it\n`;
  const block = Array.from({ length: LINES / 100 }, (_, index) => line(index)).join("");
  const writer = Bun.file(file).writer();
  for (let written = 0; written < 100; written += 1) {
    void writer.write(block);
    await writer.flush();
  }
  await writer.end();
  return file;
}

/** Tokens in the formats of real services. */
function createValues(count: number): Record<string, string> {
  const random = createRandom(count);
  const value = () => Array.from({ length: 20 + random.below(20) }, () => random.pick(LETTERS)).join("");
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`VALUE_${index}`, value()]));
}

const KEYS = 200;

/** Returns the median milliseconds from a key press to its output on the terminal. */
async function timeKeys(terminals: readonly TerminalProgram[], key: string): Promise<number[]> {
  const times = terminals.map((): number[] => []);
  for (let round = -5; round < KEYS; round += 1) {
    for (const [index, terminal] of terminals.entries()) {
      const before = terminal.shown.split(key).length - 1;
      const start = Bun.nanoseconds();
      terminal.type(key);
      await terminal.awaitOutput(key, before + 1);
      if (round >= 0) times[index]!.push((Bun.nanoseconds() - start) / 1e6);
      const lines = terminal.shown.split("~\r\n").length - 1;
      terminal.type("~\n");
      await terminal.awaitOutput("~\r\n", lines + 2); // the echo, and the output of cat
    }
  }
  return times.map(median);
}

/** Keys are typed into `cat`, which prints them at once. */
async function measureKeys(rt: string, cwd: string, env: Record<string, string>): Promise<Figure[]> {
  const start = (...options: string[]) =>
    startOnTerminal([rt, "--silent", ...options, "run", "cat"], cleanEnvironment(env), {
      cwd,
      isSessionLeader: true,
    });
  await using between = start();
  await using direct = start("--no-redact");
  const terminals = [between, direct];
  for (const terminal of terminals) {
    terminal.type("~\n");
    await terminal.awaitOutput("~\r\n", 2);
  }
  const rows: Figure[] = [];
  for (const [figure, key, goal] of [
    ["a key is shown with a terminal between, milliseconds : --no-redact", "=", 1],
    ["a key that may begin a value, milliseconds : --no-redact", Object.values(env)[0]![0]!, 20],
  ] as const) {
    const [ours, peer] = (await timeKeys(terminals, key)) as [number, number];
    const show = (time: number) => `${time.toFixed(2)} ms`;
    rows.push({
      figure,
      ours: show(ours),
      peer: show(peer),
      ratio: ours,
      goal: `<= ${goal}`,
      met: ours <= goal,
    });
  }
  return rows;
}

export async function measure(): Promise<Figure[]> {
  await using programs = await copyPrograms({ rt: RT });
  const { directory, paths } = programs;
  const rt = `${paths.rt} --silent`;
  const log = await writeLog(join(directory, "log"));
  const rows: Figure[] = [];
  for (const [count, goal] of [
    [5, 1.2],
    [50, 1.4],
  ] as const) {
    const project = await createProject(join(directory, `secrets${count}`), log, count);
    const env = createValues(count);
    const command = (name: string, line: string): TimedCommand => ({ name, argv: ["sh", "-c", line], env });
    const without = "--no-redact";
    const prefixed = timeCommands(
      [
        command("rt", `${rt} --parallel run log | cat >/dev/null`),
        command(without, `${rt} --no-redact --parallel run log | cat >/dev/null`),
      ],
      15,
      project,
    );
    rows.push(...compareTimes(`200 MB prefixed, with ${count} secrets`, prefixed, { [without]: goal }, 1));
    if (count !== 5) continue;
    const launcher = ["env", ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
    const memory = measureMemory([...launcher, paths.rt!, "--silent", "run", "log"], project);
    rows.push({
      figure: "200 MB through pipes, with 5 secrets: peak memory",
      ours: `${memory.toFixed(0)} MB`,
      peer: "",
      ratio: memory,
      goal: "<= 100",
      met: memory <= 100,
    });
    rows.push(...(await measureKeys(paths.rt!, project, env)));
    if (Bun.which("script") === null) continue;
    const onTerminal = (name: string, words: string) =>
      command(name, `script -qec '${rt} ${words}' /dev/null >/dev/null`);
    const flood = timeCommands(
      [onTerminal("rt", "run seq"), onTerminal(without, "--no-redact run seq")],
      5,
      project,
    );
    rows.push(...compareTimes("seq 2000000 through a terminal", flood, { [without]: 2.5 }, 1));
    const hello = `${rt} --no-redact run hello`;
    const [between, direct, scripted] = timeCommands(
      [
        onTerminal("rt", "run hello"),
        onTerminal(without, "--no-redact run hello"),
        command("script", `script -qec "script -qec '${hello}' /dev/null" /dev/null >/dev/null`),
      ],
      101,
      project,
    );
    const more = between!.median - direct!.median;
    const scriptsMore = scripted!.median - direct!.median;
    rows.push({
      figure: `a start with a terminal between, milliseconds more : ${without}`,
      ours: `${between!.median.toFixed(2)} ms`,
      peer: `${direct!.median.toFixed(2)} ms`,
      ratio: more,
      goal: "<= 2",
      met: more <= 2,
    });
    rows.push({
      figure: "a start with a terminal between, milliseconds more : with util-linux's script between",
      ours: `${more.toFixed(2)} ms`,
      peer: `${scriptsMore.toFixed(2)} ms`,
      ratio: more / scriptsMore,
      goal: "",
      met: true,
    });
  }
  return rows;
}
