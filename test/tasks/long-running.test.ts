// A run of several servers does not end by itself, so a failure of one ends it, as in turbo and pnpm.
import { describe, expect, test } from "bun:test";
import { appendFile } from "node:fs/promises";
import { createProject } from "../support/project.ts";
import { expectRt, startRt } from "../support/rt.ts";
import { workspace } from "../support/workspace.ts";

/** Runs `dev` of two packages. @param end written to the pipe of the server that continues when the other has ended */
async function runServers(failing: string, server: string, options: readonly string[], end?: string) {
  await using project = await createProject(
    workspace({ a: { scripts: { dev: failing } }, b: { scripts: { dev: server } } }),
  );
  await Bun.$`mkfifo ${project.join("packages/pipe")}`;
  const child = startRt({ args: ["run", "--filter", "*", ...options, "dev"], cwd: project.path });
  const decoder = new TextDecoder();
  const errors = new Response(child.stderr).text();
  let stdout = "";
  for await (const bytes of child.stdout) {
    stdout += decoder.decode(bytes, { stream: true });
    if (end === undefined || !/a dev: Exited/.test(stdout)) continue;
    await appendFile(project.join("packages/pipe"), end);
    end = undefined;
  }
  return { stdout, stderr: await errors, status: await child.exited };
}

describe("rt run --filter with several servers", () => {
  test("stops the others when one fails, names it, and exits with its code", async () => {
    const server = "trap 'echo ended; exit 0' TERM; echo > ../pipe; while :; do sleep 0.05; done";
    const { stdout, stderr, status } = await runServers("read up < ../pipe; exit 3", server, []);
    expect(stdout).toContain("b dev: ended\n");
    expect(stderr).toContain(
      "a dev: Exited with code 3; stopping the other scripts, which --no-exit-on-error keeps\n",
    );
    expect(stderr).toContain("Failed:  a dev (Exited with code 3)\n");
    expect(status).toBe(3);
  });

  test.each([
    ["one fails and --no-exit-on-error is given", "exit 3", ["--no-exit-on-error"], 3],
    ["one ends with exit code 0", "true", [], 0],
  ] as const)("keeps the others when %s", async (_, ending, options, code) => {
    const run = await runServers(ending, "read line < ../pipe; echo $line", options, "kept\n");
    expect(run.stdout).toContain("b dev: kept\n");
    expect(run.stderr).not.toContain("stopping");
    expect(run.status).toBe(code);
  });

  test("starts all of them, also if there are more than processors", async () => {
    const names = Array.from({ length: navigator.hardwareConcurrency + 1 }, (_, at) => `p${at}`);
    const all = `[ $(ls ../*/started | wc -l) = ${names.length} ]`;
    const dev = `echo > started; until ${all}; do sleep 0.05; done`;
    await expectRt({
      files: workspace(Object.fromEntries(names.map((name) => [name, { scripts: { dev } }]))),
      args: ["run", "--silent", "--filter", "*", "dev"],
      stdout: /^(?:p\d+ dev: Exited with code 0\n)+$/,
      stderr: "",
    });
  });
});
