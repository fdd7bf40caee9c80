// Starts the compiled `dist/rt` as a user would. Three ways, from the plainest to the most free:
//
//   await expectRt({ files, args, stdout, stderr, status })   a transcript: output is empty unless given
//   await runRt({ args, cwd, env, stdin })                    the result, to look at
//   startRt({ args, cwd, env })                               a live process, for signals and pipes
//
// The environment is built from nothing (a fresh HOME, no session bus, no colour settings), so that a
// developer's own settings cannot decide a test.
import { expect } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Result, resultOf } from "./output.ts";
import { createProject, type Files } from "./project.ts";

export const REPOSITORY = join(import.meta.dir, "..", "..");
export const RT =
  process.env.RT_BINARY ?? join(REPOSITORY, "dist", process.platform === "win32" ? "rt.exe" : "rt");

/** A path that does not exist. It is in the run's own directory, because other programs may create a well-known one. */
export const ABSENT = join(tmpdir(), "rt-test-absent");

export type Environment = Record<string, string | undefined>;

/** What every started program sees unless a test says otherwise. */
export function cleanEnvironment(extra: Environment = {}): Record<string, string> {
  const base: Environment = {
    PATH: process.env.PATH,
    HOME: join(tmpdir(), "rt-test-home"),
    LANG: "C.UTF-8",
    TMPDIR: process.env.TMPDIR,
    SystemRoot: process.env.SystemRoot,
    // The tests must not reach a developer's real keyring.
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${ABSENT}/rt-test-bus`,
    ...extra,
  };
  return Object.fromEntries(
    Object.entries(base).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

export interface RtOptions {
  args?: readonly string[];
  cwd?: string;
  env?: Environment;
  stdin?: string | Uint8Array;
  /** Another program than `dist/rt`, to compare with. */
  program?: readonly string[];
}

export type RtResult = Result;

export function startRt({ args = [], cwd = tmpdir(), env, stdin, program = [RT] }: RtOptions) {
  return Bun.spawn([...program, ...args], {
    cwd,
    env: cleanEnvironment(env),
    stdin:
      stdin === undefined ? "ignore" : typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin,
    stdout: "pipe",
    stderr: "pipe",
  });
}

export async function runRt(options: RtOptions): Promise<RtResult> {
  return await resultOf(startRt(options));
}

type Expected = string | RegExp;

export interface Transcript extends RtOptions {
  files?: Files;
  executable?: readonly string[];
  /** A folder of the project to start in. */
  in?: string;
  stdout?: Expected;
  stderr?: Expected;
  status?: number | string;
}

/** Runs `rt` in a fresh project. Output that is not mentioned must be empty; `$PROJECT` stands for the project's path. */
export async function expectRt({
  files = {},
  executable = [],
  in: folder = ".",
  stdout = "",
  stderr = "",
  status = 0,
  ...options
}: Transcript): Promise<void> {
  await using project = await createProject(files, executable);
  const place = (text: string) => text.replaceAll("$PROJECT", project.path);
  const args = options.args?.map(place);
  const result = await runRt({ cwd: project.join(folder), ...options, args });
  const actual = { stdout: result.stdout, stderr: result.stderr, status: result.status };
  const match = (value: Expected) => (value instanceof RegExp ? expect.stringMatching(value) : place(value));
  expect(actual).toEqual({ stdout: match(stdout), stderr: match(stderr), status });
}
