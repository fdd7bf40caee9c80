// What tools keep to be faster is no input and no output: in node_modules, and among temporary files. What only looks like that is.
import { expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { createProject } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

const USER = process.getuid?.() ?? 0;
const IN_MODULES = [".cache", ".vite", ".vite-temp", ".vitest-cache", ".experimental-vitest-cache"];
const TEMPORARY = [
  ...["node-compile-cache", `jest_${USER.toString(36)}`, `tsx-${USER}`, `v8-compile-cache-${USER}`],
  ...["rt-links-1", "rt-files-1"],
];

/** Goes on from what it finds there. */
const grow = (place: string) =>
  `mkdir -p ${place}/a && date +%s%N >> ${place}/a/b && cat ${place}/a/b > /dev/null`;

/** What comes of two runs, after one without a cache. */
async function growsIn(place: string): Promise<readonly string[]> {
  await using temporary = await createProject();
  await using project = await cachedProject({ t: grow(place) });
  const env = { TMPDIR: temporary.path };
  await project.rt(["--no-cache", "run", "t"], env);
  const said = [await project.run("t", env), await project.run("t", env)];
  return said.map((each) => each.replace(/(?<=^t was not cached: it read and then changed) .*/s, ""));
}

test
  .skipIf(!CAN_TRACE)
  .each([
    ...IN_MODULES.flatMap((name) => [`node_modules/${name}`, `packages/a/node_modules/${name}`]),
    ...TEMPORARY.map((name) => `$TMPDIR/${name}`),
  ])("no input, and no output: %s", async (place) => {
  expect(await growsIn(place)).toEqual(["ran", "hit"]);
});

test.skipIf(!CAN_TRACE)("no input: what Vitest makes at random for each user", async () => {
  await using data = await createProject({ "vitest/.vitest-secret-token": "one", "vitest/other": "one" });
  const script = `cat ${data.join("vitest")}/.vitest-secret-token ${data.join("vitest")}/other`;
  await using project = await cachedProject({ t: script });
  expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
  await data.write({ "vitest/.vitest-secret-token": "two" });
  expect(await project.run("t")).toBe("hit");
  await data.write({ "vitest/other": "two" });
  expect(await project.run("t")).toBe("ran");
});

const OTHERS = [
  ...["node_modules/.tmp", "node_modules/a/.cache", ".cache", "node_modules/.cached"],
  ...[`jest_${USER.toString(36)}x`, `tsx-${USER + 1}`, "tsx-a", "jest_", "node-compile-cache-2"].map(
    (name) => `$TMPDIR/${name}`,
  ),
  "$TMPDIR/a/node-compile-cache",
];

test.skipIf(!CAN_TRACE).each(OTHERS)("as any other: %s", async (place) => {
  const rewritten = "t was not cached: it read and then changed";
  expect(await growsIn(place)).toEqual([rewritten, rewritten]);
});

test.skipIf(!CAN_TRACE).each(["node_modules/.cache/project", `tsx-${USER}/project`])(
  "in a project that lies in such a place all counts: %s",
  async (place) => {
    await using temporary = await createProject();
    await using outer = await cachedProject({});
    const directory = place.startsWith("node") ? outer.join(place) : temporary.join(place);
    await mkdir(directory, { recursive: true });
    const files = {
      "package.json": JSON.stringify({ name: "inner", scripts: { t: "cat input" } }),
      "rtfig.toml": "[run.cache]\nt = true\n",
      input: "one\n",
    };
    for (const [name, text] of Object.entries(files)) await Bun.write(`${directory}/${name}`, text);
    const env = { XDG_CACHE_HOME: outer.cache, TMPDIR: temporary.path };
    const run = async () => (await runRt({ args: ["run", "t"], cwd: directory, env })).stdout;
    expect(await run()).toBe("one\n");
    await Bun.write(`${directory}/input`, "two\n");
    expect(await run()).toBe("two\n");
  },
);
