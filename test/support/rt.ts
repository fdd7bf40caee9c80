// Starts the compiled `dist/rt` like a user.
//
//   await expectRt({ files, args, stdout, stderr, status })   checks a transcript: output is empty by default
//   await runRt({ args, cwd, env, stdin })                    returns the result
//   startRt({ args, cwd, env })                               returns a live process, for signals and pipes
//
// The environment is built from nothing (a fresh HOME, no session bus, no colour settings), so a developer's settings do not
// affect a test.
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

/** The default environment of every started program. */
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
  /** Another program instead of `dist/rt`. */
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
  /** The working directory, relative to the project. */
  in?: string;
  stdout?: Expected;
  stderr?: Expected;
  status?: number | string;
}

/** Runs `rt` in a fresh project. Output that is not given must be empty; `$PROJECT` is replaced by the project's path. */
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
