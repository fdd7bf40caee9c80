// The projects of tools whose packages are among our own, run with rt.
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

test("three tools at least are tested here", () => {
  expect(new Set(ours.map(({ packages }) => packages[0])).size).toBeGreaterThanOrEqual(3);
});

describe("rt is at home in", () => {
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

describe("what docs/tools.md says does not work still does not, and says why:", () => {
  for (const { tool, files, steps, fails } of ours.filter((project) => project.fails !== undefined))
    test(tool, async () => {
      await using project = await createProject(files);
      await symlink(join(REPOSITORY, "node_modules"), project.join("node_modules"));
      const { stdout, stderr, status } = await runRt({ args: steps[0]!, cwd: project.path });
      expect(status).toBe(1);
      expect(stdout + stderr).toContain(fails!);
    });
});
