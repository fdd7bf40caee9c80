// Concurrent rt processes on one store, for example in containers where they have the same process ID, and failed writes to
// it.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type EntryCandidate, findCandidates } from "../../../src/cache/entry/candidates.ts";
import type { StoredEntry } from "../../../src/cache/entry/entry.ts";
import type { SharedCache } from "../../../src/cache/shared-cache.ts";
import { EntrySnapshot } from "../../../src/cache/entry/entry-snapshot.ts";
import { StatCache } from "../../../src/cache/memo/stat-cache.ts";
import { ArtifactStore } from "../../../src/cache/server/artifact-store.ts";
import { CacheStore } from "../../../src/cache/store/cache-store.ts";
import { createProject } from "../../support/project.ts";

/** More than one chunk of hashing. */
const LARGE = 3 << 20;

test("two processes that add different files to a store concurrently store both", async () => {
  await using project = await createProject({ one: "1".repeat(LARGE), two: "2".repeat(LARGE) });
  const directory = project.join("rt/store");
  const stores = [new CacheStore(directory), new CacheStore(directory)] as const;
  const [one, two] = await Promise.all([
    stores[0].addFile(project.join("one")),
    stores[1].addFile(project.join("two")),
  ]);
  expect(readFileSync(stores[0].blobPath(one), "utf8") === "1".repeat(LARGE)).toBe(true);
  expect(readFileSync(stores[0].blobPath(two), "utf8") === "2".repeat(LARGE)).toBe(true);
});

test("two servers on one store receive artifacts concurrently", async () => {
  await using project = await createProject();
  const stores = [
    new ArtifactStore(project.join("served"), LARGE),
    new ArtifactStore(project.join("served"), LARGE),
  ];
  const bodyOf = (text: string) => new Response(text).body as ReadableStream<Uint8Array>;
  const drafts = await Promise.all(
    stores.map(async (store, index) => await store.receive(bodyOf(`body ${index}`), LARGE)),
  );
  expect(drafts.map((draft) => readFileSync(draft!.path, "utf8"))).toEqual(["body 0", "body 1"]);
});

test("an upload that is too long or breaks off leaves no draft", async () => {
  await using project = await createProject();
  const store = new ArtifactStore(project.join("served"), LARGE);
  const drafts = () => readdirSync(project.join("served/drafts"));
  expect(await store.receive(new Response("x".repeat(100)).body, 99)).toBeUndefined();
  expect(drafts()).toEqual([]);
  const broken = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(10));
      controller.error(new Error("cut"));
    },
  });
  await expect(store.receive(broken, 99)).rejects.toThrow("cut");
  expect(drafts()).toEqual([]);
});

test("an entry of the shared cache is used when the local cache cannot store it", async () => {
  await using project = await createProject();
  const store = new CacheStore(project.join("rt/store"));
  rmSync(project.join("rt/store/keys"), { recursive: true });
  writeFileSync(project.join("rt/store/keys"), "");
  const stored: StoredEntry = {
    ...{ label: "build", created: 0, duration: 7, root: "/r", log: "a".repeat(64) },
    ...{ conditions: [], outputs: [], own: [], mentioned: [] },
  };
  const noted: unknown[] = [];
  const cache: SharedCache = {
    isRead: true,
    isWritten: false,
    secret: new Uint8Array(),
    find: async () => [stored],
    findOutside: () => undefined,
    fetch: async () => true,
    note: (...words) => void noted.push(words),
    offer: async () => false,
  };
  const scope = { root: "/r", packageDirectory: "/r", isDeclared: () => false };
  const access = { isRead: true, isWritten: true };
  const found: EntryCandidate[] = [];
  for await (const candidate of findCandidates(
    { store, snapshot: new EntrySnapshot(store, "/r"), access, key: "k", scope, statCache: new StatCache() },
    { cache, key: "theirs" },
  )) {
    found.push(candidate);
    break;
  }
  expect(found.map((each) => each.stored)).toEqual([stored]);
  found[0]!.use();
  expect(noted).toEqual([["theirs", true, 7]]);
});
