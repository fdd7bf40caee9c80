// Tests BlobPresenceCache, the list of blobs that a server has: expiry, size limit and persisted text.
import { expect, test } from "bun:test";
import { BlobPresenceCache } from "../../src/reapi/blob-presence-cache.ts";

const HOUR = 3600_000;

test("a blob counts as present for one hour after it was added", () => {
  const first = new BlobPresenceCache(null, () => HOUR);
  first.add(["a"]);
  const second = new BlobPresenceCache(first.takeText(), () => HOUR * 1.5);
  expect(second.takeText()).toBeNull();
  second.add(["b"]);
  expect([second.has("a"), second.has("b"), second.has("c")]).toEqual([true, true, false]);
  const third = new BlobPresenceCache(second.takeText(), () => HOUR * 2);
  expect([third.has("a"), third.has("b")]).toEqual([false, true]);
});

test("future times and invalid lines are ignored", () => {
  const later = new BlobPresenceCache(null, () => HOUR);
  later.add(["a"]);
  const text = later.takeText()!;
  expect(new BlobPresenceCache(text, () => HOUR - 1).has("a")).toBe(false);
  const others = new BlobPresenceCache(`a\n\n x\n1e99 y\nNaN z\n${text}`, () => HOUR);
  expect(["", "a", "x", "y", "z"].filter((name) => others.has(name))).toEqual(["a"]);
});

test("the newest 20000 blobs are kept, few new ones are not written, and clear() takes effect at once", () => {
  const first = new BlobPresenceCache(null, () => HOUR);
  first.add(Array.from({ length: 30_000 }, (_, at) => `${at}`));
  const kept = new BlobPresenceCache(first.takeText(), () => HOUR);
  expect([kept.has("9999"), kept.has("10000"), kept.has("29999")]).toEqual([false, true, true]);
  kept.add(["new"]);
  expect(kept.takeText()).toBeNull();
  kept.add(Array.from({ length: 500 }, (_, at) => `new ${at}`));
  expect(kept.takeText()).toMatch(/^3600000 new$/m);
  kept.clear();
  expect(kept.takeText()).toBe("");
  expect(new BlobPresenceCache("").has("")).toBe(false);
});
