// Eviction deletes the least recently used entries of a full store with their blobs, and no more than necessary.
import { expect, test } from "bun:test";
import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StoredEntry } from "../../../src/cache/entry/entry.ts";
import { touch } from "../../../src/cache/store/lru-files.ts";
import { CacheStore } from "../../../src/cache/store/cache-store.ts";
import { createProject } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";

const NOW = Date.now();
const HOUR = 3_600_000;
const GRACE = 10 * 60_000;

/** Adds an entry that was used this many hours ago, with blobs that can be shared. */
function add(store: CacheStore, key: string, hoursAgo: number, contents: readonly string[]): string {
  const hashes = contents.map((text) => store.addBytes(Buffer.from(text)));
  const log = store.addBytes(Buffer.from(`log of ${key}`));
  const outputs = hashes.map(
    (hash, index) => ({ path: `out${index}`, kind: "file", hash, mode: 0o644 }) as const,
  );
  const entry: StoredEntry = {
    ...{
      label: key,
      created: NOW,
      duration: 1,
      conditions: [],
      outputs,
      own: [],
      log,
      root: "/p",
      mentioned: [],
    },
  };
  store.addEntry(key, entry);
  const path = [...store.entries(key)][0]!.path;
  age(path, hoursAgo);
  for (const hash of [...hashes, log]) age(store.blobPath(hash), hoursAgo);
  return path;
}

function age(path: string, hours: number): void {
  const time = new Date(NOW - hours * HOUR);
  utimesSync(path, time, time);
}

test("eviction removes nothing at the limit, and above it the least recently used entry with its unshared blobs", async () => {
  await using project = await createProject();
  const store = new CacheStore(project.join("rt/store"));
  const old = add(store, "a".repeat(64), 3, ["of a", "shared"]);
  const middle = add(store, "b".repeat(64), 2, ["of b", "shared"]);
  const recent = add(store, "c".repeat(64), 1, ["of c", "shared"]);
  const all = [old, middle, recent];
  const blob = (text: string) => store.blobPath(new Bun.CryptoHasher("sha256").update(text).digest("hex"));
  const present = () => all.map((path) => existsSync(path));
  const { size } = store.measure();
  store.evict(size, GRACE);
  expect(present()).toEqual([true, true, true]);
  store.evict(size - 1, GRACE);
  expect(present()).toEqual([false, true, true]);
  expect(
    ["of a", "of b", "of c", "shared", `log of ${"a".repeat(64)}`].map((text) => existsSync(blob(text))),
  ).toEqual([...[false, true, true, true, false]]);
  // A touched entry is evicted last.
  touch(middle);
  store.evict(store.measure().size - 1, GRACE);
  expect(present()).toEqual([false, true, false]);
  expect(existsSync(blob("shared"))).toBe(true);
  expect([...store.entries("b".repeat(64))].map(({ entry }) => entry.label)).toEqual(["b".repeat(64)]);
  store.evict(0, GRACE);
  expect(present()).toEqual([false, false, false]);
  expect(existsSync(blob("shared"))).toBe(false);
});

test("eviction keeps new blobs and drafts without an entry, and removes old ones", async () => {
  await using project = await createProject();
  const store = new CacheStore(project.join("rt/store"));
  const nameless = [store.addBytes(Buffer.from("old")), store.addBytes(Buffer.from("new"))] as const;
  age(store.blobPath(nameless[0]), 1);
  const drafts = ["old", "new"].map((name) => join(store.directory, "drafts", name));
  for (const draft of drafts) writeFileSync(draft, "half");
  age(drafts[0]!, 1);
  store.evict(Number.MAX_SAFE_INTEGER, GRACE);
  expect(drafts.map((draft) => existsSync(draft))).toEqual([false, true]);
  store.evict(0, GRACE);
  expect(nameless.map((hash) => existsSync(store.blobPath(hash)))).toEqual([false, true]);
});

test("rt cache prune reduces the cache to --size, and removes the stores of other versions", async () => {
  await using project = await createProject();
  const other = project.join("rt/scripts-1/blobs/old");
  await project.write({ "rt/scripts-1/blobs/old": "old", "rt/served/kept": "served" });
  const store = new CacheStore(project.join("rt/scripts-5"));
  add(store, "a".repeat(64), 3, ["x".repeat(600_000)]);
  const recent = add(store, "b".repeat(64), 2, ["y".repeat(600_000)]);
  const run = async (...words: string[]) =>
    await runRt({ args: ["cache", ...words], cwd: project.path, env: { XDG_CACHE_HOME: project.path } });
  expect(await run("prune")).toEqual({
    stdout: `Removed 0.0 MB; 2 entries (1.2 MB) remain in ${store.directory}\n`,
    stderr: "",
    status: 0,
  });
  expect([existsSync(other), existsSync(project.join("rt/served/kept"))]).toEqual([false, true]);
  expect((await run("prune", "--size=1")).stdout).toBe(
    `Removed 0.6 MB; 1 entry (0.6 MB) remains in ${store.directory}\n`,
  );
  expect(existsSync(recent)).toBe(true);
  for (const words of [["--size=much"], ["--size=1", "more"], ["all"]]) {
    const { stdout, stderr, status } = await run("prune", ...words);
    expect([stdout, status]).toEqual(["", 1]);
    expect(stderr).toBe(
      `error: Unexpected argument "${words.at(-1)}"\nhint: rt cache prune --size=<MB> keeps the most recently used entries\n`,
    );
  }
  await project.write({ "rt/scripts-1/blobs/old": "old" });
  expect((await run("clear")).stdout).toBe("The cache is empty\n");
  expect([existsSync(other), existsSync(project.join("rt/served/kept"))]).toEqual([false, true]);
});
