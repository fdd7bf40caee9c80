// Runs `rt` and measures its memory.
//
// Non-obvious: another process starts rt, because the memory of a forked process includes that of its parent. The test process
// has half a gigabyte.
import { cleanEnvironment, RT } from "../rt.ts";

const BETWEEN = `
  const { stdout, stderr, exitCode, resourceUsage } =
    Bun.spawnSync(process.argv.slice(1), { cwd: process.env.RT_TEST_CWD, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  console.log(JSON.stringify([String(stdout), String(stderr), exitCode, resourceUsage.maxRSS]));`;

export interface Measured {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number;
  /** Bytes. */
  readonly memory: number;
}

export async function runMeasured(cwd: string, args: readonly string[]): Promise<Measured> {
  const child = Bun.spawn([process.execPath, "-e", BETWEEN, RT, ...args], {
    cwd: import.meta.dir,
    env: { ...cleanEnvironment(), RT_TEST_CWD: cwd },
    stdout: "pipe",
  });
  const [stdout, stderr, status, memory] = (await new Response(child.stdout).json()) as never[];
  return { stdout, stderr, status, memory } as unknown as Measured;
}
