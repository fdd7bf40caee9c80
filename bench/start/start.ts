// How long it takes to start: a file, a script, piped code, and how much memory that takes.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { copyPrograms, type TimedCommand, timeCommands, type Timing } from "../processes.ts";
import { BUN, findPeer } from "../peers.ts";
import type { Row } from "../row.ts";

const RUNS = 150;
// The kernel's count for a child includes what the parent had before the child became its own program.
const MEMORY = `const status = require("node:fs").readFileSync("/proc/self/status", "utf8");
console.log(/VmHWM:\\s+(\\d+)/.exec(status)[1]);
`;
const RT = join(import.meta.dir, "..", "..", "dist", "rt");

/** `goal` is the most that ours may take in the peer's time, or undefined where a row only informs. */
function compare(
  figure: string,
  [ours, ...peers]: readonly Timing[],
  goals: Record<string, number | undefined>,
): Row[] {
  return peers.map((peer) => {
    const goal = goals[peer.name];
    return {
      figure: `${figure} : ${peer.name}`,
      ours: `${ours!.median.toFixed(2)} ms`,
      peer: `${peer.median.toFixed(2)} ms`,
      ratio: peer.ratio,
      goal: goal === undefined ? "" : `<= ${goal}`,
      met: goal === undefined || peer.ratio <= goal,
    };
  });
}

/** The least that a compiled program can do to run a file, and to become a script's program. */
const IMPORTER = "await import(`${process.cwd()}/${process.argv[2]}`);\n";
const BECOMER = `import { dlopen, ptr } from "bun:ffi";
const { execve } = dlopen("libc.so.6", { execve: { args: ["ptr", "ptr", "ptr"], returns: "int" } }).symbols;
const [program, word] = ["/bin/echo\\0", "hello\\0"].map((text) => new TextEncoder().encode(text));
const words = new BigUint64Array([BigInt(ptr(program)), BigInt(ptr(word)), 0n]);
execve(ptr(program), ptr(words), ptr(new BigUint64Array(1)));
`;

async function buildFloor(directory: string, name: string, source: string): Promise<string> {
  const entry = join(directory, `${name}.js`);
  const outfile = join(directory, name);
  await Bun.write(entry, source);
  await Bun.build({
    entrypoints: [entry],
    target: "bun",
    format: "esm",
    bytecode: true,
    minify: true,
    compile: { outfile: `${outfile}.draft` },
  });
  await writeFile(outfile, await readFile(`${outfile}.draft`), { mode: 0o755 });
  return outfile;
}

export async function measure(): Promise<Row[]> {
  const node = findPeer("node");
  const deno = findPeer("deno");
  await using programs = await copyPrograms({ rt: RT, bun: BUN });
  const { directory, paths } = programs;
  const rt = paths.rt!;
  const bun = paths.bun!;
  await Bun.write(join(directory, "hello.ts"), 'console.log("hello" as string);\n');
  await Bun.write(join(directory, "package.json"), JSON.stringify({ scripts: { hello: "echo hello" } }));
  const importer = await buildFloor(directory, "importer", IMPORTER);
  const becomer = await buildFloor(directory, "becomer", BECOMER);

  const command = (name: string, ...argv: string[]): TimedCommand => ({ name, argv });
  const time = (commands: readonly (TimedCommand | undefined)[], runs = RUNS) =>
    timeCommands(
      commands.filter((each) => each !== undefined),
      runs,
      directory,
    );

  const files = time([
    command("rt hello.ts", rt, "hello.ts"),
    command("bun hello.ts", bun, "hello.ts"),
    command("import() in a compiled program (floor)", importer, "hello.ts"),
    node ? command("node hello.ts", node, "hello.ts") : undefined,
    deno ? command("deno run hello.ts", deno, "run", "hello.ts") : undefined,
  ]);
  const scripts = time([
    command("rt run hello", rt, "run", "hello"),
    command("bun run hello", bun, "run", "hello"),
    command("execve() in a compiled program (floor)", becomer),
    node ? command("node --run hello", node, "--run", "hello") : undefined,
    deno ? command("deno task hello", deno, "task", "hello") : undefined,
  ]);
  const npm = time(
    [command("rt run hello", rt, "run", "hello"), command("npm run hello", "npm", "run", "hello")],
    8,
  );
  const stdin = join(directory, "hello.ts");
  const piped = timeCommands(
    [
      { name: "rt run -", argv: [rt, "run", "-"], stdin },
      { name: "bun run -", argv: [bun, "run", "-"], stdin },
    ],
    RUNS,
    directory,
  );
  await Bun.write(join(directory, "memory.ts"), MEMORY);
  const memoryOf = (program: string) =>
    Number(Bun.spawnSync([program, "memory.ts"], { cwd: directory }).stdout) / 1024;
  const memory = process.platform === "linux" ? [{ ours: memoryOf(rt), peer: memoryOf(bun) }] : [];
  return [
    ...compare("start: rt hello.ts", files, { "bun hello.ts": 1 }),
    ...compare("start: rt run hello", scripts, {
      "bun run hello": 1.3,
      "node --run hello": 1,
      "deno task hello": 1,
    }),
    ...compare("start: rt run hello", npm, { "npm run hello": 1 }),
    ...compare("start: cat hello.ts | rt run -", piped, {}),
    ...memory.map(({ ours, peer }) => ({
      figure: "start: peak memory of a file : bun",
      ours: `${ours.toFixed(1)} MB`,
      peer: `${peer.toFixed(1)} MB`,
      ratio: ours / peer,
      goal: "",
      met: true,
    })),
  ];
}
