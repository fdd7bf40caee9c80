// Whether a program may ask for packages that are not there: a node_modules counts where the program finds it, not where
// the user stands.
import { afterAll, expect, test } from "bun:test";
import { mayAskForPackages } from "../../src/runner/file/bare-imports.ts";
import { createProject } from "../support/project.ts";

const start = process.cwd();
afterAll(() => process.chdir(start));

test("a node_modules of the working directory is none of a program's elsewhere", async () => {
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
