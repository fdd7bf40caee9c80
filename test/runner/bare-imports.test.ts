// Tests whether a program may import packages that do not exist: only a node_modules above the program counts, not
// one in the working directory.
import { afterAll, expect, test } from "bun:test";
import { mayAskForPackages } from "../../src/runner/file/bare-imports.ts";
import { createProject } from "../support/project.ts";

const start = process.cwd();
afterAll(() => process.chdir(start));

test("mayAskForPackages() ignores a node_modules of the working directory for a program in another folder", async () => {
  const app = 'await import("absent");';
  await using project = await createProject({
    "here/node_modules/x/index.js": "",
    "here/app.ts": app,
    "elsewhere/app.ts": app,
    "elsewhere/plain.ts": "console.log(1);",
  });
  process.chdir(project.join("here"));
  expect(mayAskForPackages(project.join("here/app.ts"))).toBe(false);
  expect(mayAskForPackages(project.join("elsewhere/app.ts"))).toBe(true);
  expect(mayAskForPackages(project.join("elsewhere/plain.ts"))).toBe(false);
});
