// What the scripts of one run share of what rt has seen: nothing that something has changed meanwhile.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { lstat, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { validateEntry, type FileSystemView } from "../../../src/cache/entry/entry-validation.ts";
import type { CacheEntry } from "../../../src/cache/entry/entry.ts";
import { startLive } from "../../options/live.ts";
import { waitUntil } from "../../support/processes.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

/** Three packages, each needs the one before. */
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

const ways = (stdout: string) =>
  ["one", "two", "three"].map((name) =>
    stdout.includes(`${name} build: Done before`) ? "hit" : stdout.includes(`${name} build`) ? "ran" : "",
  );

test.skipIf(!CAN_TRACE)(
  "what a script that is not cached has changed is seen by those after it",
  async () => {
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
    expect(ways(second.stdout)).toEqual(["hit", "ran", "hit"]);
    await writeFile(project.join("next"), "new\n");
    const third = await build();
    expect(third.stdout).toContain("three build: new\n");
    expect(ways(third.stdout)).toEqual(["hit", "ran", "ran"]);
  },
);

test.skipIf(!CAN_TRACE)(
  "what somebody has written a moment before it is read keeps no script out",
  async () => {
    await using project = await cachedProject(
      { t: "echo > go; while [ ! -e ready ]; do :; done; cat shared" },
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

test.skipIf(!CAN_TRACE)("what a hit has put back is seen by those after it", async () => {
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
  expect(ways(stdout)).toEqual(["hit", "hit", "hit"]);
  expect(stdout).toContain("three build: made\n");
});

/** Each file of the store, and when it was last touched. */
async function touched(directory: string): Promise<string[]> {
  const names = (await readdir(directory, { recursive: true })).sort();
  return await Promise.all(
    names.map(async (name) => `${name} ${(await lstat(`${directory}/${name}`)).ctimeMs}`),
  );
}

test.skipIf(!CAN_TRACE)(
  "a run of hits writes nothing, and what it remembers counts only for the files that were read",
  async () => {
    await using project = await cachedProject(
      {},
      { ...chain({ one: "cat in", two: "cat ../one/in", three: "echo 3" }), "one/in": "1" },
      "build = true",
    );
    const build = async () => ways((await project.rt(["--filter", "*", "run", "build"])).stdout);
    for (let run = 0; run < 4; run += 1) await build();
    const store = join(project.cache, "rt/scripts-4");
    const before = await touched(store);
    expect(await build()).toEqual(["hit", "hit", "hit"]);
    expect(await touched(store)).toEqual(before);
    // Another entry of the same key: the one before is still there.
    await project.write({ "one/in": "2" });
    expect(await build()).toEqual(["ran", "ran", "hit"]);
    expect(await build()).toEqual(["hit", "hit", "hit"]);
    await project.write({ "one/in": "1" });
    for (let run = 0; run < 3; run += 1) expect(await build()).toEqual(["hit", "hit", "hit"]);
    // What is remembered, damaged: the store is read.
    const [name] = await readdir(join(store, "known"));
    const known = join(store, "known", name!);
    const text = await readFile(known, "utf8");
    for (const spoilt of [text.slice(0, -9), text.replaceAll('"one/in"', '"two/in"'), "", "\0"]) {
      await writeFile(known, spoilt);
      expect(await build()).toEqual(["hit", "hit", "hit"]);
    }
    await build();
    // An entry, damaged: what was remembered of it before does not count.
    for (const each of before.filter((line) => line.includes(".zst ")))
      await writeFile(join(store, each.slice(0, each.lastIndexOf(" "))), "damaged");
    expect(await build()).toEqual(["ran", "ran", "ran"]);
  },
);

test.skipIf(!CAN_TRACE)("in a watched run, what has changed since the last round is seen", async () => {
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
  expect(live.output.match(/^\w+ build: Done before/gm)).toHaveLength(3);
});

test.skipIf(!CAN_TRACE)("a script that fails is told of variables at its first failure alone", async () => {
  await using project = await cachedProject({ fail: "exit 1" });
  const fail = async () => (await project.rt(["run", "fail"], { SOMETHING: "1" })).stderr;
  expect(await fail()).toContain("so it did not get");
  expect(await fail()).not.toContain("so it did not get");
});

test("what is new in a folder, gone from it, or cannot be listed any more is a difference, but for what it made itself", async () => {
  const lookIn = async (now: string[] | null, outputs: CacheEntry["outputs"] = []) => {
    const conditions = [["names", "/x", ["fa", "fb"]]] as const;
    const world = { list: () => now, isIgnored: (path: string) => path === "/x/ignored" };
    const { mismatch: difference } = await validateEntry(
      { conditions, outputs, own: [] } as unknown as CacheEntry,
      world as unknown as FileSystemView,
    );
    return difference;
  };
  expect(await lookIn(["fa", "fb", "fignored"])).toBeNull();
  expect(await lookIn(["fa", "fb", "fc"])).toBe("/x/c is new");
  expect(await lookIn(["fa", "fb", "fc"], [{ path: "/x/c", kind: "absent" }])).toBeNull();
  expect(await lookIn(["fa"])).toBe("/x/b is not there any more");
  expect(await lookIn(null)).toBe("/x cannot be listed");
});
