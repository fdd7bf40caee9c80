// Measures the start of a file, a script, piped code and a compiled program, and its memory.
//
// deno and bun evaluate the script `echo hello` themselves; rt starts bash for it. `/bin/echo hello` shows the overhead of a
// script that starts a program. rt memoizes the start of a script. The first start after a change is a separate row.
import { mkdirSync, rmSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { copyPrograms, type TimedCommand, timeCommands } from "../processes.ts";
import { BUN, findPeer } from "../peers.ts";
import { compareTimes, type Figure } from "../row.ts";

const RUNS = 150;
// The kernel's figure for a child includes the memory of its parent at the fork.
const MEMORY = `const status = require("node:fs").readFileSync("/proc/self/status", "utf8");
console.log(/VmHWM:\\s+(\\d+)/.exec(status)[1]);
`;
const HELLO = 'console.log("hello" as string);\n';
const TEST = 'import { test } from "bun:test";\ntest("nothing", () => {});\n';
const TSCONFIG = '{ "compilerOptions": { "target": "ESNext", "module": "Preserve", "strict": true } }\n';
const RT = join(import.meta.dir, "..", "..", "dist", "rt");

/** The minimum that a compiled program must do to run a file, and to exec a script's program. */
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

/** Programs compiled from hello.ts, by `rt build --compile` and its peers. */
function makeProgram(program: string, name: string, directory: string): string {
  const outfile = join(directory, `made-with-${name}`);
  const words = ["build", "--compile", "hello.ts", "--outfile", outfile];
  const { exitCode } = Bun.spawnSync([program, ...words], { cwd: directory });
  if (exitCode !== 0) throw new Error(`${name} made no program`);
  return outfile;
}

const RUNNERS = { "bun run": 1, "node --run": 1, "deno task": 1 };

export async function measure(): Promise<Figure[]> {
  const node = findPeer("node");
  const deno = findPeer("deno");
  await using copies = await copyPrograms({ rt: RT, bun: BUN });
  const { directory, paths } = copies;
  const rt = paths.rt!;
  const bun = paths.bun!;
  await Bun.write(join(directory, "hello.ts"), HELLO);
  const manifest = { scripts: { hello: "echo hello", program: "/bin/echo hello", tool: "own-tool hello" } };
  await Bun.write(join(directory, "package.json"), JSON.stringify(manifest));
  const tool = join(directory, "node_modules", ".bin", "own-tool");
  await Bun.write(tool, '#!/bin/sh\necho "$@"\n');
  await chmod(tool, 0o755);
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
  const timeScript = (name: string, ...more: TimedCommand[]) =>
    time([
      command("rt run", rt, "run", name),
      command("bun run", bun, "run", name),
      ...more,
      node ? command("node --run", node, "--run", name) : undefined,
      deno ? command("deno task", deno, "task", name) : undefined,
    ]);
  const scripts = timeScript("hello");
  const XDG_CACHE_HOME = join(directory, "cache");
  mkdirSync(XDG_CACHE_HOME);
  const prepare = () => rmSync(join(XDG_CACHE_HOME, "rt"), { recursive: true, force: true });
  const changed = time([
    { ...command("rt run", rt, "run", "hello"), env: { XDG_CACHE_HOME }, prepare },
    command("bun run", bun, "run", "hello"),
  ]);
  // deno runs only tools that are JavaScript.
  const tools = time([
    command("rt run", rt, "run", "tool"),
    command("bun run", bun, "run", "tool"),
    node ? command("node --run", node, "--run", "tool") : undefined,
  ]);
  const programs = timeScript("program", command("execve() in a compiled program (floor)", becomer));
  const project = join(directory, "typescript");
  await Bun.write(join(project, "hello.ts"), HELLO);
  await Bun.write(join(project, "tsconfig.json"), TSCONFIG);
  const inProject = timeCommands(
    [command("rt hello.ts", rt, "hello.ts"), command("bun hello.ts", bun, "hello.ts")],
    RUNS,
    project,
  );
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
  await Bun.write(join(directory, "tests", "one.test.ts"), TEST);
  const both = (...args: string[]) =>
    time([command(`rt ${args[0]}`, rt, ...args), command(`bun ${args[0]}`, bun, ...args)]);
  const evaluated = both("-e", HELLO);
  const optioned = both("--smol", "hello.ts");
  const tested = both("test");
  const versions = both("--version");
  const made = timeCommands(
    ["rt", "bun"].map((name) => ({
      name: `made with ${name}`,
      argv: [makeProgram(paths[name]!, name, directory)],
    })),
    RUNS,
    directory,
  );
  await Bun.write(join(directory, "memory.ts"), MEMORY);
  const memoryOf = (program: string) =>
    Number(Bun.spawnSync([program, "memory.ts"], { cwd: directory }).stdout) / 1024;
  const memory = process.platform === "linux" ? [{ ours: memoryOf(rt), peer: memoryOf(bun) }] : [];
  return [
    ...compareTimes("start: rt hello.ts", files, { "bun hello.ts": 1 }),
    ...compareTimes("start: the same beside a tsconfig.json", inProject, { "bun hello.ts": 1 }),
    ...compareTimes("start: rt run hello", scripts, { ...RUNNERS, "bun run": 0.7 }),
    ...compareTimes("start: rt run hello after a change", changed, {}),
    ...compareTimes("start: rt run program", programs, RUNNERS),
    ...compareTimes("start: rt run of a tool in node_modules/.bin", tools, { "bun run": 1, "node --run": 1 }),
    ...compareTimes("start: rt run hello", npm, { "npm run hello": 1 }),
    ...compareTimes("start: cat hello.ts | rt run -", piped, { "bun run -": 1.35 }),
    ...compareTimes("start: rt -e", evaluated, { "bun -e": 1.35 }),
    ...compareTimes("start: rt --smol hello.ts", optioned, { "bun --smol": 1.3 }),
    ...compareTimes("start: rt test, one test", tested, { "bun test": 1.5 }),
    ...compareTimes("start: rt --version", versions, { "bun --version": 0.8 }),
    ...compareTimes("start: a program that uses nothing of rt", made, { "made with bun": 1.05 }),
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
