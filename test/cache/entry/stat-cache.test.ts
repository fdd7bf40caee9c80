// The stat cache of a run is invalidated by every script that runs, and by every restore.
import { expect, test } from "bun:test";
import { existsSync, rmSync, symlinkSync } from "node:fs";
import { lstat, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { validateEntry, type FileSystemView } from "../../../src/cache/entry/entry-validation.ts";
import type { CacheEntry } from "../../../src/cache/entry/entry.ts";
import { StatCache } from "../../../src/cache/memo/stat-cache.ts";
import { startLive } from "../../options/live.ts";
import { createProject } from "../../support/project.ts";
import { waitUntil } from "../../support/processes.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

/** Three packages, each of which depends on the one before. */
function chain(scripts: Readonly<Record<"one" | "two" | "three", string>>) {
  const manifest = (name: keyof typeof scripts, before?: string) => ({
    name,
    scripts: { build: scripts[name] },
    ...(before !== undefined && { dependencies: { [before]: "workspace:*" } }),
  });
  return {
    "package.json": { name: "root", workspaces: ["one", "two", "three"] },
    "one/package.json": manifest("one"),
    "two/package.json": manifest("two", "one"),
    "three/package.json": manifest("three", "two"),
  };
}

const outcomesOf = (stdout: string) =>
  ["one", "two", "three"].map((name) =>
    stdout.includes(`${name} build: Cached (saved`) ? "hit" : stdout.includes(`${name} build`) ? "ran" : "",
  );

test.skipIf(!CAN_TRACE)("a change by an uncached script is visible to later scripts of the run", async () => {
  await using project = await cachedProject(
    {},
    {
      ...chain({
        one: "cat ../shared >/dev/null || exit 0",
        two: "cp ../next ../shared",
        three: "cat ../shared",
      }),
      shared: "old\n",
      next: "old\n",
    },
    '"one#build" = true\n"three#build" = true',
  );
  const build = async () => await project.rt(["--filter", "*", "run", "build"]);
  expect(await build()).toMatchObject({ status: 0 });
  const second = await build();
  expect(outcomesOf(second.stdout)).toEqual(["hit", "ran", "hit"]);
  await writeFile(project.join("next"), "new\n");
  const third = await build();
  expect(third.stdout).toContain("three build: new\n");
  expect(outcomesOf(third.stdout)).toEqual(["hit", "ran", "ran"]);
});

test.skipIf(!CAN_TRACE)(
  "a run is cached when an input was written shortly before the script read it",
  async () => {
    await using project = await cachedProject(
      { t: "echo > go; while [ ! -e ready ]; do sleep 0.05; done; cat shared" },
      { shared: "old\n" },
      't = { ignore = ["go", "ready"] }',
    );
    const running = project.run("t");
    await waitUntil(() => existsSync(project.join("go")));
    await project.write({ shared: "new\n" });
    await project.write({ ready: "" });
    expect([await running, await project.run("t")]).toEqual(["ran", "hit"]);
  },
);

test.skipIf(!CAN_TRACE)("a restored output is visible to later scripts of the run", async () => {
  await using project = await cachedProject(
    {},
    chain({
      one: "test -e ../two/dist; echo looked",
      two: "mkdir dist && echo made > dist/out",
      three: "cat ../two/dist/out",
    }),
    "build = true",
  );
  const build = async () => await project.rt(["--filter", "*", "run", "build"]);
  expect(await build()).toMatchObject({ status: 0 });
  await rm(project.join("two/dist"), { recursive: true });
  const { stdout } = await build();
  expect(outcomesOf(stdout)).toEqual(["hit", "hit", "hit"]);
  expect(stdout).toContain("three build: made\n");
});

/** The files of the store, each with its ctime. */
async function changeTimesOf(directory: string): Promise<string[]> {
  const names = (await readdir(directory, { recursive: true })).sort();
  return await Promise.all(
    names.map(async (name) => `${name} ${(await lstat(`${directory}/${name}`)).ctimeMs}`),
  );
}

test.skipIf(!CAN_TRACE)(
  "a run of hits writes nothing, and the entry snapshot is used only for the files that it was made from",
  async () => {
    await using project = await cachedProject(
      {},
      { ...chain({ one: "cat in", two: "cat ../one/in", three: "echo 3" }), "one/in": "1" },
      "build = true",
    );
    const build = async () => outcomesOf((await project.rt(["--filter", "*", "run", "build"])).stdout);
    for (let run = 0; run < 4; run += 1) await build();
    const store = join(project.cache, "rt/scripts-5");
    const before = await changeTimesOf(store);
    expect(await build()).toEqual(["hit", "hit", "hit"]);
    expect(await changeTimesOf(store)).toEqual(before);
    // This is a second entry of the same key. The first entry is kept.
    await project.write({ "one/in": "2" });
    expect(await build()).toEqual(["ran", "ran", "hit"]);
    expect(await build()).toEqual(["hit", "hit", "hit"]);
    await project.write({ "one/in": "1" });
    for (let run = 0; run < 3; run += 1) expect(await build()).toEqual(["hit", "hit", "hit"]);
    // With a damaged entry snapshot, rt reads the store.
    const [name] = await readdir(join(store, "known"));
    const known = join(store, "known", name!);
    const text = await readFile(known, "utf8");
    for (const spoilt of [text.slice(0, -9), text.replaceAll('"one/in"', '"two/in"'), "", "\0"]) {
      await writeFile(known, spoilt);
      expect(await build()).toEqual(["hit", "hit", "hit"]);
    }
    await build();
    // The snapshot of a damaged entry is not used.
    for (const each of before.filter((line) => line.includes(".zst ")))
      await writeFile(join(store, each.slice(0, each.lastIndexOf(" "))), "damaged");
    expect(await build()).toEqual(["ran", "ran", "ran"]);
  },
);

test.skipIf(!CAN_TRACE)("a watched run detects changes since the last round", async () => {
  await using project = await cachedProject(
    {},
    {
      ...chain({ one: "cat in.ts", two: "cat in.ts", three: "cat in.ts" }),
      "one/in.ts": "1\n",
      "two/in.ts": "1\n",
      "three/in.ts": "1\n",
    },
    "build = true",
  );
  await project.rt(["--filter", "*", "run", "build"]);
  await using live = startLive({
    args: ["--watch", "run", "--filter", "*", "build"],
    cwd: project.path,
    env: { XDG_CACHE_HOME: project.cache },
  });
  await live.see("waiting for a change");
  await project.write({ "one/in.ts": "2\n" });
  await live.see("one build: 2\n");
  expect(live.output.match(/^\w+ build: Cached \(saved /gm)).toHaveLength(3);
});

test.skipIf(!CAN_TRACE)(
  "a failing script warns about withheld variables at its first failure only",
  async () => {
    await using project = await cachedProject({ fail: "exit 1" });
    const fail = async () => (await project.rt(["run", "fail"], { SOMETHING: "1" })).stderr;
    expect(await fail()).toContain("so it did not get");
    expect(await fail()).not.toContain("so it did not get");
  },
);

test("a listing mismatches when a name is added or removed or the folder is unreadable, except for the run's outputs", async () => {
  const mismatchOf = async (now: string[] | null, outputs: CacheEntry["outputs"] = []) => {
    const conditions = [["names", "/x", ["fa", "fb"]]] as const;
    const world = { list: () => now, isIgnored: (path: string) => path === "/x/ignored" };
    const { mismatch: difference } = await validateEntry(
      { conditions, outputs, own: [] } as unknown as CacheEntry,
      world as unknown as FileSystemView,
    );
    return difference;
  };
  expect(await mismatchOf(["fa", "fb", "fignored"])).toBeNull();
  expect(await mismatchOf(["fa", "fb", "fc"])).toBe("/x/c was added");
  expect(await mismatchOf(["fa", "fb", "fc"], [{ path: "/x/c", kind: "absent" }])).toBeNull();
  expect(await mismatchOf(["fa"])).toBe("/x/b was removed");
  expect(await mismatchOf(null)).toBe("cannot read directory /x");
});

test("a stat cache resolves a directory once until it is invalidated, and each time after its end", async () => {
  await using project = await createProject({ "one/a": "", "two/a": "" });
  const [cache, link] = [new StatCache(), project.join("link")];
  const resolveTo = (name: string) => {
    rmSync(link, { force: true });
    symlinkSync(name, link);
    return cache.resolve(link).slice(project.path.length);
  };
  expect(cache.resolve(project.join("none"))).toBe(project.join("none"));
  expect([resolveTo("one"), resolveTo("two")]).toEqual(["/one", "/one"]);
  cache.invalidate();
  expect(resolveTo("two")).toBe("/two");
  cache.end();
  expect([resolveTo("one"), resolveTo("two")]).toEqual(["/one", "/two"]);
});
