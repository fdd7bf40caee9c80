// Checks test/support/programs/footprint.ts: a run of the tests fails if it leaves files outside of its directory.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { listFootprint } from "../support/programs/footprint.ts";
import { createProject } from "../support/project.ts";
import { REPOSITORY } from "../support/rt.ts";

test("the footprint of a run has new names in /, the home directory and the directory for temporary files", async () => {
  await using machine = await createProject({ "home/.config/a": "", "tmp/rt-old": "" });
  const places = { root: machine.path, home: machine.join("home"), temporary: machine.join("tmp") };
  const before = listFootprint(places);
  expect([...before].toSorted()).toEqual(
    ["home", "home/.config", "home/.config/a", "tmp", "tmp/rt-old"].map((path) => machine.join(path)),
  );
  const left = ["nonexistent", "home/.bun", "home/.config/rt", "home/.local/state/rt", "tmp/rt-links-0-x"];
  const others = ["tmp/another-program", "tmp/rt-tests-of-another-run"];
  await machine.write(Object.fromEntries([...left, ...others].map((path) => [`${path}/file`, ""])));
  const added = [...listFootprint(places)].filter((path) => !before.has(path));
  expect(added.toSorted()).toEqual(
    [...left, "home/.local", "home/.local/state"].map((path) => machine.join(path)).toSorted(),
  );
});

test("paths that tests need to be absent are in the run's directory", async () => {
  const named: string[] = [];
  for (const path of new Bun.Glob("**/*.ts").scanSync(join(REPOSITORY, "test")))
    if (/["=:]\/nonexistent/.test(await Bun.file(join(REPOSITORY, "test", path)).text())) named.push(path);
  expect(named).toEqual([]);
});
