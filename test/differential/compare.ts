// Runs a program under the stock engine and under `dist/rt` and compares output and exit code.
//
// Invariants:
// - Every fixture runs under the engine of this test, under rt in its own process, and under rt as the engine (`--smol`).
// - Only differences between any two runs (paths, process id, port, duration) are normalized before the comparison.
//
// Non-obvious:
// - A fixture declares an intended difference with its reason and rt's output. The engine must really differ, so a fixed
//   difference fails the test.
import { describe, expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { basename } from "node:path";
import { createProject, type Files, type Project } from "../support/project.ts";
import { readLines } from "../support/output.ts";
import { ENDINGS } from "./endings.ts";
import { type Environment, RT, type RtResult, startRt } from "../support/rt.ts";

/** A running program, read line by line. */
export interface Live {
  readonly pid: number;
  /** Returns the next line of standard output without its line end, or "" at the end. */
  line(): Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

export interface Fixture {
  readonly name: string;
  readonly files?: Files;
  readonly executable?: readonly string[];
  /** Link names and their targets. */
  readonly links?: Readonly<Record<string, string>>;
  /** The working directory. */
  readonly in?: string;
  /** `main.ts` by default. `$PROJECT` is replaced by the project's path. */
  readonly args?: readonly string[];
  readonly env?: Environment;
  readonly stdin?: string;
  /** The reason why one way of running is enough. */
  readonly oneMode?: string;
  /** The reason why lines are sorted before the comparison. */
  readonly sorted?: string;
  /** Interacts with the running program; its result is compared too. */
  readonly interact?: (program: Live, project: Project) => Promise<unknown>;
  /** An intended difference. Fields that are not given are the same as under the engine. */
  readonly differs?: { readonly reason: string; readonly mode?: Mode } & Partial<RtResult>;
}

type Mode = "in process" | "as the engine";

interface Observation extends RtResult {
  readonly interaction?: unknown;
}

const MODES: ReadonlyArray<readonly [Mode, readonly string[]]> = [
  ["in process", []],
  ["as the engine", ["--smol"]],
];

async function observe(
  fixture: Fixture,
  project: Project,
  program: string,
  options: readonly string[],
): Promise<Observation> {
  const place = (text: string) => text.replaceAll("$PROJECT", project.path);
  const child = startRt({
    program: [program, ...options],
    args: (fixture.args ?? ["main.ts"]).map(place),
    cwd: project.join(fixture.in ?? "."),
    env: {
      // Behind a proxy with its own authority, the engine cannot download packages without it.
      NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
      ...fixture.env,
      PATH: fixture.env?.PATH ? place(fixture.env.PATH) : process.env.PATH,
    },
    stdin: fixture.stdin,
  });
  const lines = readLines(child.stdout);
  const stderrText = new Response(child.stderr).text();
  const line = async () => (await lines.next()).value ?? "";
  const interaction = await fixture.interact?.(
    { pid: child.pid, line, kill: (signal) => child.kill(signal) },
    project,
  );
  const [stdout, stderr] = [(await Array.fromAsync(lines)).join("\n"), await stderrText];
  await child.exited;
  const sort = (text: string) => (fixture.sorted ? text.split("\n").toSorted().join("\n") : text);
  const equal = (text: string) =>
    sort(normalize(text, program, project).replaceAll(`(node:${child.pid})`, "(node:$PID)"));
  return {
    stdout: equal(stdout),
    stderr: equal(stderr),
    status: child.signalCode ?? child.exitCode ?? -1,
    ...(interaction === undefined ? {} : { interaction: JSON.parse(equal(JSON.stringify(interaction))) }),
  };
}

function normalize(text: string, program: string, project: Project): string {
  return (
    text
      .replaceAll(program, "$RUNTIME")
      .replaceAll(project.path, "$PROJECT")
      .replaceAll(`"${basename(program)}"`, '"$RUNTIME"')
      // The engine measures how long its first file takes, which depends on other programs.
      .replace(/^warn: Slow filesystem detected\..*\n/m, "")
      .replaceAll('"rt install "', '"bun install"') // see build/executable/engine-message-patch.ts
      .replace(/(?<=Bundled page in )\d+/, "$MS")
      .replace(/(?<=Is port )\d+/, "$PORT")
  );
}

/** Keeps two processors busy. */
const CONCURRENCY = 4;
/** Milliseconds; the time includes the wait for other fixtures, which is long on a busy machine. */
const TIME_LIMIT = 900_000;

export function compareAll(title: string, fixtures: readonly Fixture[]): void {
  describe.concurrent(title, () => {
    for (const fixture of fixtures)
      test(fixture.name, () => runWithLimit(() => compare(fixture)), TIME_LIMIT);
  });
}

const waiting: (() => void)[] = [];
let running = 0;

async function runWithLimit(work: () => Promise<void>): Promise<void> {
  if (running === CONCURRENCY) await new Promise<void>((resume) => waiting.push(resume));
  else running += 1;
  try {
    await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

/** Returns the exit code or signal that the engine must produce. */
function expectedEnding({ name }: Fixture): number | string {
  const [ending] = Object.entries(ENDINGS).find(([, names]) => names.includes(name)) ?? ["0"];
  return /^\d+$/.test(ending) ? Number(ending) : ending;
}

async function compare(fixture: Fixture): Promise<void> {
  await using project = await createProject(fixture.files, fixture.executable);
  for (const [link, target] of Object.entries(fixture.links ?? {})) await symlink(target, project.join(link));
  const modes = fixture.oneMode ? MODES.slice(0, 1) : MODES;
  const observed = await observe(fixture, project, process.execPath, []);
  // Rule 6 of the specification: docs/reference/differences.md.
  const stock = { ...observed, stdout: observed.stdout.replaceAll(/\[(\w+) \.\.\.\]/g, "[$1]") };
  expect(stock).toEqual({ ...stock, status: expectedEnding(fixture) });
  for (const [mode, options] of modes) {
    const ours = await observe(fixture, project, RT, options);
    const { reason, mode: only, ...own } = fixture.differs ?? {};
    if (!reason || (only && only !== mode)) expect({ mode, ...ours }).toEqual({ mode, ...stock });
    else {
      expect({ mode, reason, ...ours }).toEqual({ mode, reason, ...stock, ...own });
      expect({ mode, ...stock }).not.toEqual({ mode, ...ours });
    }
  }
}
