// Runs the projects of those tools that are development dependencies of this repository.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { createProject } from "../support/project.ts";
import { REPOSITORY, runRt } from "../support/rt.ts";
import { PROJECTS, SAID } from "./projects.ts";
import manifest from "../../package.json";

setDefaultTimeout(120_000);

const ours = PROJECTS.filter(
  ({ packages, server }) =>
    server === undefined &&
    packages.every((name) => name.replace(/(?<=.)@.*/, "") in manifest.devDependencies),
);

test("at least three tools of docs/reference/tools.md are tested without a download", () => {
  expect(new Set(ours.map(({ packages }) => packages[0])).size).toBeGreaterThanOrEqual(3);
});

describe("the module rt can be imported under", () => {
  for (const { tool, files, steps } of ours.filter(({ fails }) => fails === undefined))
    test(tool, async () => {
      await using project = await createProject(files);
      await symlink(join(REPOSITORY, "node_modules"), project.join("node_modules"));
      let output = "";
      for (const args of steps) {
        const { stdout, stderr, status } = await runRt({ args, cwd: project.path });
        expect({ status, stderr: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, stderr: "" });
        output = stdout;
      }
      expect(output).toContain(SAID);
    });
});

describe("docs/reference/tools.md names the error that rt still causes in", () => {
  for (const { tool, files, steps, fails } of ours.filter((project) => project.fails !== undefined))
    test(tool, async () => {
      await using project = await createProject(files);
      await symlink(join(REPOSITORY, "node_modules"), project.join("node_modules"));
      const { stdout, stderr, status } = await runRt({ args: steps[0]!, cwd: project.path });
      expect(status).toBe(1);
      expect(stdout + stderr).toContain(fails!);
    });
});
