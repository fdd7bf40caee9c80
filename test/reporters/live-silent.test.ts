// Tests the live view with --silent: the output of scripts without their commands and without a summary.
import { expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";

async function onTerminal(...options: string[]): Promise<string> {
  await using project = await createProject({
    "package.json": { workspaces: ["a", "b"] },
    "a/package.json": { name: "a", scripts: { prego: "echo before", go: "echo one" } },
    "b/package.json": { name: "b", scripts: { go: "echo two" } },
  });
  const words = [RT, "run", ...options, "--filter", "'*'", "go"].join(" ");
  const program = ["script", "-qec", words, "/dev/null"];
  const { stdout, status } = await runRt({ program, cwd: project.path, env: { TERM: "xterm-256color" } });
  expect(status).toBe(0);
  return Bun.stripANSI(stdout);
}

test("--silent removes the commands and the summary from the live view", async () => {
  const plain = await onTerminal();
  expect(plain).toContain("b go $ echo two");
  expect(plain).toContain("2 scripts in");
  const silent = await onTerminal("--silent");
  expect(silent).toMatch(/b go\r\n│ two\r\n└─ Done/);
  expect(silent).not.toMatch(/\$|echo|scripts in/);
});
