// A copy of this repository to try mutants in, with a program of its own.
//
//   await using copy = await copyTree();
//   await using changed = await copy.change(mutant);        // built anew, where it is in what is compiled
//   await copy.runTests("test/tasks/signals.test.ts")
import { chmod, cp, link, mkdir, mkdtemp, readFile, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { hostTarget } from "../../build/targets.ts";
import { engineEnvironment } from "../support/engine-environment.ts";
import { endPrograms, endProcesses } from "../support/processes.ts";
import { REPOSITORY } from "../support/rt.ts";
import { applyMutant, type Placed, testFileOf } from "./mutant.ts";

const ENGINE = process.execPath;
const TOOLCHAIN = ".toolchain";
/** What is made of the programs in C. */
const NATIVE = "platform/native/linux/programs.ts";
const LEFT_OUT = [".git", "dist", TOOLCHAIN];
const FILE = hostTarget().file;

/** Milliseconds for a file of tests: a mutant that makes them wait for ever is noticed too. */
const PATIENCE = 300_000;

export interface Trial {
  readonly hasPassed: boolean;
  /** The first test that failed, where there is one. */
  readonly failed: string | undefined;
  readonly output: string;
}

export interface TreeCopy extends AsyncDisposable {
  /** @param title of one test, to run it alone. Where there is none, nothing has passed. */
  runTests(file: string, title?: string): Promise<Trial>;
  /** Until it is disposed of. Throws when what it makes cannot be built. */
  change(mutant: Placed): Promise<AsyncDisposable>;
}

export async function copyTree(): Promise<TreeCopy> {
  const path = await mkdtemp(join(tmpdir(), "rt-mutant-"));
  process.on("exit", () => rmSync(path, { recursive: true, force: true }));
  await chmod(path, 0o755); // some tests become another user
  const names = readdirSync(REPOSITORY).filter((name) => !LEFT_OUT.includes(name));
  await Promise.all([
    ...names.map((name) => cp(join(REPOSITORY, name), join(path, name), { recursive: true })),
    symlink(join(REPOSITORY, TOOLCHAIN), join(path, TOOLCHAIN)),
    mkdir(join(path, "dist")),
  ]);
  const program = join(path, "dist", FILE);
  const unchanged = `${program}.unchanged`;
  await build(path);
  await link(program, unchanged);

  return {
    runTests: (file, title) => runTests(path, file, title),
    async change(mutant) {
      const file = join(path, mutant.file);
      const content = await readFile(file, "utf8");
      const isCompiled = /^(?:src|platform|build)\//.test(mutant.file) && mutant.tests.some(startsProgram);
      const isNative = /\.[ch]$/.test(file);
      const made = isNative ? await readFile(join(path, NATIVE)) : undefined;
      const restore = async () => {
        await writeFile(file, content);
        if (made) await writeFile(join(path, NATIVE), made);
        if (!isCompiled) return;
        await rm(program, { force: true });
        await link(unchanged, program);
      };
      await writeFile(file, applyMutant(mutant, content));
      try {
        // What is only in the programs for other systems is compiled by the tests that start those.
        if (isCompiled && !isOfOthers(mutant.file)) {
          await unlink(program);
          if (isNative) await makeAnew(path, "build/native-codegen.ts");
          await build(path);
        }
      } catch (error) {
        await restore();
        throw error;
      }
      return { [Symbol.asyncDispose]: restore };
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

function isOfOthers(file: string): boolean {
  const folders = { linux: "linux|posix", darwin: "macos|posix", win32: "windows" } as Record<string, string>;
  return (
    /^platform\/\w+\//.test(file) && !new RegExp(`^platform/(?:${folders[process.platform]})/`).test(file)
  );
}

const starting = new Map<string, boolean>();

/** Whether the test starts the program, and does not only import the source: it takes a build, and longer. */
export function startsProgram(name: string): boolean {
  const file = join(REPOSITORY, testFileOf(name));
  const known = starting.get(file) ?? namesProgram(file, new Set());
  starting.set(file, known);
  return known;
}

const transpiler = new Bun.Transpiler({ loader: "ts" });

function namesProgram(file: string, seen: Set<string>): boolean {
  if (seen.has(file) || !file.includes("/test/") || file.endsWith("/support/rt.ts")) return false;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  if (/\b(?:RT|runRt|startRt|expectRt|dist|compile)\b/.test(text)) return true;
  const own = transpiler.scanImports(text).filter(({ path }) => path.startsWith("."));
  return own.some(({ path }) => namesProgram(join(dirname(file), path), seen));
}

async function build(path: string): Promise<void> {
  await makeAnew(path, "build/compile.ts");
}

async function makeAnew(path: string, script: string): Promise<void> {
  const { status, output } = await run(path, tmpdir(), [script]);
  if (status !== 0) throw new Error(`it cannot be built: ${output.trim()}`);
}

async function runTests(path: string, file: string, title: string | undefined): Promise<Trial> {
  const temporary = await mkdtemp(join(tmpdir(), "rt-trial-"));
  await chmod(temporary, 0o1777); // as /tmp
  const clean = () => {
    // A mutant leaves behind what its tests have started, and some that is meant to be ended by what is broken.
    endProcesses("TMPDIR", temporary);
    endPrograms(path);
    rmSync(temporary, { recursive: true, force: true });
  };
  process.on("exit", clean);
  try {
    const words = ["test", "--bail", "--only-failures", "--timeout=60000", `./${file}`];
    // What it is in stands before it, with another sign between them.
    if (title !== undefined) words.push(`--test-name-pattern=${RegExp.escape(title.split(" > ").at(-1)!)}$`);
    const { status, output } = await run(path, temporary, words);
    const failed = /^\(fail\) (.*?)(?: \[.*)?$/m.exec(output)?.[1];
    return { hasPassed: status === 0, failed, output };
  } finally {
    process.off("exit", clean);
    clean();
  }
}

/** The output goes to a file: what a mutant leaves behind may hold a pipe for ever. */
async function run(
  cwd: string,
  temporary: string,
  args: readonly string[],
): Promise<{ status: number | string; output: string }> {
  const log = join(temporary, `rt-mutant-${crypto.randomUUID()}.log`);
  const descriptor = openSync(log, "a");
  const child = Bun.spawn([ENGINE, ...args], {
    cwd,
    stdio: ["ignore", descriptor, descriptor],
    env: engineEnvironment(temporary),
    timeout: PATIENCE,
    killSignal: "SIGKILL",
  });
  closeSync(descriptor);
  await child.exited;
  const output = await readFile(log, "utf8");
  await rm(log);
  return { status: child.signalCode ?? child.exitCode ?? 1, output };
}
