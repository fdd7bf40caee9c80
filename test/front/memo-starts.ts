// Starts scripts twice, and compares the replay of a memo with the same start without the front.
import { expect } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TIMESTAMP_GRANULARITY } from "../../platform/files/contract/stat-fingerprint.ts";
import { waitUntil } from "../support/processes.ts";
import type { Project } from "../support/project.ts";
import { type Environment, RT, runRt, type RtResult } from "../support/rt.ts";

export interface Start {
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Environment;
  /** A shell command in front of rt, which becomes it. */
  readonly by?: string;
}

/** Waits until a change is old enough for a memo. */
export async function age(): Promise<void> {
  const changed = Date.now();
  await waitUntil(() => Date.now() > changed + 2 * TIMESTAMP_GRANULARITY);
}

/** @param project has a folder "home", which is the home directory */
export function memoStarts(project: () => Project) {
  async function run({ args, cwd = ".", env, by }: Start, RT_FRONT = "on"): Promise<RtResult> {
    const program = by === undefined ? [RT] : ["sh", "-c", `${by}; exec "$0" "$@"`, RT];
    const HOME = project().join("home");
    return await runRt({ program, args, cwd: project().join(cwd), env: { HOME, RT_FRONT, ...env } });
  }

  const place = () => project().join("home/.cache/rt/starts-1");
  const memos = () => (existsSync(place()) ? readdirSync(place()) : []);

  /** Replaces the printed line of the only memo, so that a replay differs from a decision of TypeScript. */
  function mark(): void {
    const file = join(place(), memos()[0]!);
    const content = readFileSync(file, "latin1");
    expect(content).toContain("\0$ ");
    writeFileSync(file, content.replaceAll("\0$ ", "\0% "), "latin1");
  }

  async function expectReplay(start: Start): Promise<RtResult> {
    await age();
    const first = await run(start);
    expect(memos()).toHaveLength(1);
    mark();
    const replayed = await run(start);
    expect(replayed.stderr).toStartWith("% ");
    expect({ ...replayed, stderr: replayed.stderr.replace("%", "$") }).toEqual(first);
    expect(await run(start, "off")).toEqual(first);
    return first;
  }

  async function expectNoReplay(start: Start): Promise<RtResult> {
    const result = await run(start);
    expect(result.stderr).not.toContain("% ");
    const without = await run(start, "off");
    const hideTimes = ({ stderr, ...rest }: RtResult) => ({
      ...rest,
      stderr: stderr.replaceAll(/\d+ ms|^Slowest: .*/gm, "<time>"),
    });
    expect(hideTimes(result)).toEqual(hideTimes(without));
    return result;
  }

  return { run, place, memos, mark, expectReplay, expectNoReplay };
}
