// `npm test`: builds dist/rt, meanwhile checks format, types and lint rules, runs every test, and closes with
//
//   N passed, N failed, N skipped
//
// alone on the last line. `npm test -- <patterns>` runs only matching test files. In CI a skipped test is a
// failure: there, everything that a test needs must be there.
//
// All of a run's temporary files are in one directory, removed with what programs leave there on purpose (rt keeps the
// directories of its links) or because a test has killed them.
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { compile, DIST } from "../build/compile.ts";
import { hostTarget } from "../build/targets.ts";
import { engineEnvironment } from "./support/engine-environment.ts";
import { listFootprint } from "./support/programs/footprint.ts";

const ROOT = join(import.meta.dir, "..");
const ENGINE = process.execPath;

/**
 * Files that take longest, by their paths' beginnings: begun first, since one that is left over at the end runs alone. The
 * first makes programs that others start (support/compiled.ts), which wait for them if they begin sooner.
 */
const LONG = [
  ...[
    "build/executable/targets",
    "cache/entry/run-memo",
    "secrets/linux/interop",
    "runtime/program",
    "remote-execution/",
  ],
  ...[
    "build/release/",
    "windows/",
    "build/executable/smoke",
    "csrf/browser",
    "upgrade/",
    "watch/",
    "reporters/run-page",
  ],
  ...["cache/remote/", "runtime/engine-switch", "debugger/", "secrets/linux/dialogs", "runner/build"],
  ...["reporters/plan-page", "secrets/import", "differential/", "docs/samples", "build/", "macos/"],
  ...["cache/", "secrets/", "tasks/"],
];

/** Files in the list of where the time went. */
const SLOWEST = 25;

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

const PLACES = { root: "/", home: homedir(), temporary: tmpdir() };
const before = listFootprint(PLACES);
/** Where rt writes files for the engine if no other directory is usable: tests of such directories leave it. */
const FALLBACK = `/tmp/rt-files-${process.getuid?.()}`;
const hadFallback = existsSync(FALLBACK);
const temporary = realpathSync(mkdtempSync(join(tmpdir(), "rt-tests-")));
chmodSync(temporary, 0o1777); // as /tmp: some tests become another user
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

/** Runs a command of the engine, and gives back what it prints. */
async function run(
  args: readonly string[],
  show: (text: string) => void = () => {},
): Promise<{ status: number; output: string }> {
  const child = Bun.spawn([ENGINE, ...args], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: engineEnvironment(temporary),
  });
  let output = "";
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      const text = decoder.decode(chunk, { stream: true });
      output += text;
      show(text);
    }
  };
  await Promise.all([read(child.stdout), read(child.stderr), child.exited]);
  return { status: child.exitCode ?? 1, output };
}

async function checkTree(): Promise<Count> {
  const checks = [
    ["fmt", "--no-script", "--check"],
    ["check", "--no-script"],
    ["node_modules/oxlint/bin/oxlint"],
  ];
  const count: Count = { passed: 0, failed: 0, skipped: 0 };
  for (const check of checks) {
    const { status, output } = await run(check);
    process.stdout.write(output);
    count[status === 0 ? "passed" : "failed"] += 1;
  }
  return count;
}

function readCount(output: string, word: string): number {
  return Number(output.match(new RegExp(`^\\s*(\\d+) ${word}\\b`, "m"))?.[1] ?? 0);
}

/** As `bun test` has them: milliseconds by file; the order alone matters here. */
function timingsOf(): Record<string, number> {
  const names = [...new Bun.Glob("**/*.test.ts").scanSync(import.meta.dir)];
  const durationOf = (name: string) => {
    const place = LONG.findIndex((start) => name.startsWith(start));
    return place < 0 ? 1 : 1000 * (LONG.length - place);
  };
  return Object.fromEntries(names.map((name) => [`test/${name}`, durationOf(name)]));
}

/** Where the time of the suite goes: the files whose tests take longest, added up over the tests that ran at once. */
function listSlowest(report: string): string {
  const seconds = new Map<string, number>();
  for (const [, time, file] of report.matchAll(/<testcase [^>]*?time="([\d.]+)" file="([^"]+)"/g))
    seconds.set(file!, (seconds.get(file!) ?? 0) + Number(time));
  const slowest = [...seconds].sort(([, one], [, other]) => other - one).slice(0, SLOWEST);
  return [
    "slowest files:",
    ...slowest.map(([file, time]) => `${time.toFixed(0).padStart(6)} s ${file}`),
  ].join("\n");
}

async function runTests(patterns: readonly string[]): Promise<Count> {
  const timings = join(temporary, "timings.json");
  const report = join(temporary, "junit.xml");
  writeFileSync(timings, JSON.stringify({ version: 1, files: timingsOf() }));
  const command = [
    "test",
    // More than there are processors, since tests wait: for what they have started to see something, to end, to be killed.
    `--parallel=${availableParallelism() + 2}`,
    // Of one file. More programs at once take longer in total: they compete for caches, and tests poll while they wait.
    `--max-concurrency=${availableParallelism() + 2}`,
    `--timings=${timings}`,
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    "--only-failures",
    "--timeout=300000",
    ...patterns,
  ];
  const { status, output } = await run(command, (text) => process.stdout.write(text));
  if (patterns.length === 0 && existsSync(report)) console.log(listSlowest(readFileSync(report, "utf8")));
  const count = {
    passed: readCount(output, "pass"),
    failed: readCount(output, "fail"),
    skipped: readCount(output, "skip"),
  };
  // A file that does not load, or a worker that dies, is in the exit code alone.
  if (status !== 0 && count.failed === 0) count.failed = 1;
  return count;
}

const patterns = process.argv.slice(2);
const target = hostTarget();
const [checks] = await Promise.all([
  patterns.length === 0 ? checkTree() : { passed: 0, failed: 0, skipped: 0 },
  compile(target, join(DIST, target.file)),
]);
const tests = await runTests(patterns);
if (!hadFallback) rmSync(FALLBACK, { recursive: true, force: true });
const left = [...listFootprint(PLACES)].filter((path) => !before.has(path));
// Outside of CI, other programs of the user may create files at the same time.
if (left.length > 0) console.error(`error: the tests left outside of their directory: ${left.join(", ")}`);
const hasLeft = left.length > 0 && process.env.CI !== undefined;
const passed = checks.passed + tests.passed;
const failed = checks.failed + tests.failed + (hasLeft ? 1 : 0);
// Elsewhere than on Linux, what is about Linux is skipped.
const mayNotSkip = process.env.CI !== undefined && process.platform === "linux" && tests.skipped > 0;
if (mayNotSkip) console.error(`error: ${tests.skipped} tests were skipped, which CI does not allow`);
console.log(`${passed} passed, ${failed} failed, ${tests.skipped} skipped`);
process.exitCode = failed > 0 || passed === 0 || mayNotSkip ? 1 : 0;
