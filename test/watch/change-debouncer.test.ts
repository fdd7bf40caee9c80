// ChangeDebouncer merges the changes of a burst, also when rt receives the last events late.
import { expect, spyOn, test } from "bun:test";
import fs, { writeFileSync } from "node:fs";
import { ChangeDebouncer } from "../../src/watch/change-debouncer.ts";
import { parseIgnoreLines } from "../../src/watch/gitignore.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";

test("a change is part of the burst when its event arrives after git's lock was found released", async () => {
  await using project = await createProject({ "a.ts": "", "b.ts": "", ".git/index.lock": "" });
  const [a, b, lock] = ["a.ts", "b.ts", ".git/index.lock"].map((name) => project.join(name));
  const scope = {
    roots: [{ directory: project.path, isDeep: true }],
    ignore: parseIgnoreLines([], project.path),
  };
  const { existsSync } = fs;
  let checks = 0;
  using _check = spyOn(fs, "existsSync").mockImplementation((path) => {
    if (path !== lock) return existsSync(path);
    checks += 1;
    if (checks === 2) writeFileSync(b!, "1");
    return checks < 2;
  });
  const reasons: (readonly string[])[] = [];
  using _debouncer = new ChangeDebouncer(scope, project.path, {
    onReason: (paths) => void reasons.push(paths),
    onNamed() {},
    runOf: () => ({ number: 1, begin: 0 }),
  });
  writeFileSync(a!, "1");
  await waitUntil(() => reasons.length > 0);
  expect(reasons).toEqual([[a!, b!]]);
});
