// Copies this repository, with a compiled program, to test mutants in the copy.
//
//   await using copy = await copyTree();
//   await using changed = await copy.change(mutant);        // compiles again if the mutant changes compiled code
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
/** Generated from the programs in C. */
const NATIVE = "platform/native/linux/compiled";
const LEFT_OUT = [".git", "dist", TOOLCHAIN];
const FILE = hostTarget().file;

/** Milliseconds for a test file, because a mutant may make its tests wait without end. */
const TIMEOUT = 300_000;

export interface Trial {
  readonly hasPassed: boolean;
  /** Title of the first test that failed. */
  readonly failed: string | undefined;
  readonly output: string;
}

export interface TreeCopy extends AsyncDisposable {
  /** @param title of one test, to run it alone; the trial fails if no test has this title */
  runTests(file: string, title?: string): Promise<Trial>;
  /** Applies the mutant until the result is disposed. @throws Error when the changed source cannot be compiled. */
  change(mutant: Placed): Promise<AsyncDisposable>;
}

/** Copies the files of this repository, without a program. The copy is removed at exit. @returns its path */
export async function copySources(prefix: string): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), prefix));
  process.on("exit", () => rmSync(path, { recursive: true, force: true }));
  await chmod(path, 0o755); // some tests run as another user
  const names = readdirSync(REPOSITORY).filter((name) => !LEFT_OUT.includes(name));
  await Promise.all([
    ...names.map((name) => cp(join(REPOSITORY, name), join(path, name), { recursive: true })),
    symlink(join(REPOSITORY, TOOLCHAIN), join(path, TOOLCHAIN)),
    mkdir(join(path, "dist")),
  ]);
  return path;
}

export async function copyTree(): Promise<TreeCopy> {
  const path = await copySources("rt-mutant-");
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
      const restore = async () => {
        await writeFile(file, content);
        if (isNative) await cp(join(REPOSITORY, NATIVE), join(path, NATIVE), { recursive: true });
        if (!isCompiled) return;
        await rm(program, { force: true });
        await link(unchanged, program);
      };
      await writeFile(file, applyMutant(mutant, content));
      try {
        // Tests of other systems compile the code for those systems themselves.
        if (isCompiled && !isForOtherSystem(mutant.file)) {
          await unlink(program);
          if (isNative) await runBuildScript(path, "build/codegen/native-codegen.ts");
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

function isForOtherSystem(file: string): boolean {
  const folders = { linux: "linux|posix", darwin: "macos|posix", win32: "windows" } as Record<string, string>;
  return (
    /^platform\/\w+\//.test(file) && !new RegExp(`^platform/(?:${folders[process.platform]})/`).test(file)
  );
}

const starting = new Map<string, boolean>();

/** Whether the test starts the compiled program. Such a test needs a build and runs longer than one that imports the source. */
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
  await runBuildScript(path, "build/compile.ts");
}

async function runBuildScript(path: string, script: string): Promise<void> {
  const { status, output } = await run(path, tmpdir(), [script]);
  if (status !== 0) throw new Error(`it cannot be built: ${output.trim()}`);
}

async function runTests(path: string, file: string, title: string | undefined): Promise<Trial> {
  const temporary = await mkdtemp(join(tmpdir(), "rt-trial-"));
  await chmod(temporary, 0o1777); // as /tmp
  const clean = () => {
    // A mutant may break the code that ends processes, so they can outlive their test.
    endProcesses("TMPDIR", temporary);
    endPrograms(path);
    rmSync(temporary, { recursive: true, force: true });
  };
  process.on("exit", clean);
  try {
    const words = ["test", "--bail", "--only-failures", "--timeout=60000", `./${file}`];
    // The reporter joins titles of describe blocks with " > ", the pattern matches them joined with a space.
    if (title !== undefined) words.push(`--test-name-pattern=${RegExp.escape(title.split(" > ").at(-1)!)}$`);
    const { status, output } = await run(path, temporary, words);
    const failed = /^\(fail\) (.*?)(?: \[.*)?$/m.exec(output)?.[1];
    return { hasPassed: status === 0, failed, output };
  } finally {
    process.off("exit", clean);
    clean();
  }
}

/** Writes the output to a file, because a process that outlives its test would keep a pipe open. */
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
    timeout: TIMEOUT,
    killSignal: "SIGKILL",
  });
  closeSync(descriptor);
  await child.exited;
  const output = await readFile(log, "utf8");
  await rm(log);
  return { status: child.signalCode ?? child.exitCode ?? 1, output };
}
