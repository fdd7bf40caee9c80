// The differences in docs/reference/differences.md: stock Bun and rt run with the same arguments.
import { describe, expect, test } from "bun:test";
import { DIFFERENCES } from "../../build/docs/differences.ts";
import { createProject } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";

describe.concurrent("docs/reference/differences.md", () => {
  for (const { what, args, files = {}, env, shows } of DIFFERENCES)
    test(`stock Bun and rt differ as the page says: ${what}`, async () => {
      for (const [name, program] of [
        ["bun", process.execPath],
        ["rt", RT],
      ] as const) {
        await using project = await createProject(files);
        const run = await runRt({ program: [program], args, cwd: project.path, env });
        const output = `${run.stdout}${run.stderr}${run.status}`;
        expect({ name, output }).toEqual({ name, output: expect.stringMatching(shows[name]) });
      }
    });
});
