// The same program under the stock engine and under `dist/rt`: what it writes and how it ends must be the same.
//
// Contract: every fixture runs under the engine that runs this test, under rt in its own process, and once more
// under rt started anew as the engine (`--smol`), which are two different ways of reaching the user's first line.
// Only what no two runs share (paths, the process id, a port, a duration) is made equal before the comparison.
//
// Surprising: a difference that is meant is written into the fixture with its reason and rt's own output, and
// the comparison then insists that the engine differs: a row that is no longer true fails.
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
  /** The next line of its standard output, without its end; "" when there is no more. */
  line(): Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

export interface Fixture {
  readonly name: string;
  readonly files?: Files;
  readonly executable?: readonly string[];
  /** A link's name, and what it points to. */
  readonly links?: Readonly<Record<string, string>>;
  /** The folder to start in. */
  readonly in?: string;
  /** `main.ts` unless given. `$PROJECT` stands for the project's path. */
  readonly args?: readonly string[];
  readonly env?: Environment;
  readonly stdin?: string;
  /** Why one way of running code is enough. */
  readonly oneWay?: string;
  /** Why the order of lines says nothing. */
  readonly sorted?: string;
  /** Talks to the running program; what it returns is compared as well. */
  readonly talk?: (program: Live, project: Project) => Promise<unknown>;
  /** A difference that is meant. What is not named here is as under the engine. */
  readonly differs?: { readonly reason: string; readonly way?: Way } & Partial<RtResult>;
}

type Way = "in process" | "as the engine";

interface Observation extends RtResult {
  readonly said?: unknown;
}

const WAYS: ReadonlyArray<readonly [Way, readonly string[]]> = [
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
    env: { ...fixture.env, PATH: fixture.env?.PATH ? place(fixture.env.PATH) : process.env.PATH },
    stdin: fixture.stdin,
  });
  const lines = readLines(child.stdout);
  const stderrText = new Response(child.stderr).text();
  const line = async () => (await lines.next()).value ?? "";
  const said = await fixture.talk?.({ pid: child.pid, line, kill: (signal) => child.kill(signal) }, project);
  const [stdout, stderr] = [(await Array.fromAsync(lines)).join("\n"), await stderrText];
  await child.exited;
  const sort = (text: string) => (fixture.sorted ? text.split("\n").toSorted().join("\n") : text);
  const equal = (text: string) =>
    sort(normalize(text, program, project).replaceAll(`(node:${child.pid})`, "(node:$PID)"));
  return {
    stdout: equal(stdout),
    stderr: equal(stderr),
    status: child.signalCode ?? child.exitCode ?? -1,
    ...(said === undefined ? {} : { said: JSON.parse(equal(JSON.stringify(said))) }),
  };
}

function normalize(text: string, program: string, project: Project): string {
  return text
    .replaceAll(program, "$RUNTIME")
    .replaceAll(project.path, "$PROJECT")
    .replaceAll(`"${basename(program)}"`, '"$RUNTIME"')
    .replaceAll('"rt install "', '"bun install"') // see build/engine-message-patch.ts
    .replace(/(?<=Bundled page in )\d+/, "$MS")
    .replace(/(?<=Is port )\d+/, "$PORT");
}

/** Enough to keep two processors busy; the time limit leaves room for a machine that is busy with more. */
const AT_ONCE = 4;
const TIME_LIMIT = 60_000; // ms

export function compareAll(title: string, fixtures: readonly Fixture[]): void {
  describe.concurrent(title, () => {
    for (const fixture of fixtures) test(fixture.name, () => inTurn(() => compare(fixture)), TIME_LIMIT);
  });
}

const waiting: (() => void)[] = [];
let running = 0;

async function inTurn(work: () => Promise<void>): Promise<void> {
  if (running === AT_ONCE) await new Promise<void>((resume) => waiting.push(resume));
  else running += 1;
  try {
    await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

/** How the engine has to end it. */
function endingOf({ name }: Fixture): number | string {
  const [ending] = Object.entries(ENDINGS).find(([, names]) => names.includes(name)) ?? ["0"];
  return /^\d+$/.test(ending) ? Number(ending) : ending;
}

async function compare(fixture: Fixture): Promise<void> {
  await using project = await createProject(fixture.files, fixture.executable);
  for (const [link, target] of Object.entries(fixture.links ?? {})) await symlink(target, project.join(link));
  const ways = fixture.oneWay ? WAYS.slice(0, 1) : WAYS;
  const observed = await observe(fixture, project, process.execPath, []);
  // Rule 6 of the specification: docs/differences.md.
  const stock = { ...observed, stdout: observed.stdout.replaceAll(/\[(\w+) \.\.\.\]/g, "[$1]") };
  expect(stock).toEqual({ ...stock, status: endingOf(fixture) });
  for (const [way, options] of ways) {
    const ours = await observe(fixture, project, RT, options);
    const { reason, way: only, ...own } = fixture.differs ?? {};
    if (!reason || (only && only !== way)) expect({ way, ...ours }).toEqual({ way, ...stock });
    else {
      expect({ way, reason, ...ours }).toEqual({ way, reason, ...stock, ...own });
      expect({ way, ...stock }).not.toEqual({ way, ...ours });
    }
  }
}
