// BlobUploader sends each blob once, however many actions need it.
import { expect, test } from "bun:test";
import type { Blob } from "../../src/reapi/cas-client.ts";
import { digestOf } from "../../src/reapi/digest.ts";
import { buildInputRoot, type Input } from "../../src/reapi/input-root.ts";
import { BlobPresenceCache } from "../../src/reapi/blob-presence-cache.ts";
import { BlobUploader } from "../../src/reapi/blob-uploader.ts";

const blob = (text: string): Blob => {
  const bytes = Buffer.from(text);
  return { digest: digestOf(bytes), read: async (start, end) => bytes.subarray(start, end) };
};

/** A store whose uploads complete when the test resolves them. */
function openStore() {
  const sent: string[][] = [];
  const calls: PromiseWithResolvers<{ count: number; bytes: number }>[] = [];
  return {
    sent,
    calls,
    async upload(blobs: readonly Blob[]) {
      sent.push(
        await Promise.all(
          blobs.map(async ({ digest, read }) => `${Buffer.from(await read(0, digest.size))}`),
        ),
      );
      const call = Promise.withResolvers<{ count: number; bytes: number }>();
      calls.push(call);
      return await call.promise;
    },
    /** Completes the upload with this index as soon as it has started. */
    async answer(number: number, error?: Error) {
      while (calls.length <= number) await null;
      if (error) calls[number]!.reject(error);
      else calls[number]!.resolve({ count: 0, bytes: 0 });
    },
  };
}

test("a blob in an upload is not sent again, and other actions wait for that upload", async () => {
  const store = openStore();
  const uploads = new BlobUploader(store, new BlobPresenceCache(null));
  const [a, b, c] = ["a", "b", "c"].map(blob) as [Blob, Blob, Blob];
  const ended: number[] = [];
  const first = uploads.send([a, b]).then(() => ended.push(1));
  const second = uploads.send([b, c]).then(() => ended.push(2));
  await store.answer(1);
  for (let turn = 0; turn < 5; turn++) await null;
  expect(ended).toEqual([]);
  await store.answer(0);
  await Promise.all([first, second]);
  await uploads.send([a, b, c]);
  expect(store.sent).toEqual([["a", "b"], ["c"]]);
});

test("a late upload does not block the upload of the same blob", async () => {
  const store = openStore();
  const uploads = new BlobUploader(store, new BlobPresenceCache(null));
  const late = uploads.sendLate([blob("a"), blob("b")]);
  const own = uploads.send([blob("a")]);
  await store.answer(1);
  await own;
  await store.answer(0);
  await late;
  await uploads.sendLate([blob("a"), blob("b")]);
  await uploads.send([blob("b")]);
  expect(store.sent).toEqual([["a", "b"], ["a"]]);
});

test("a blob counts as present only when its own upload has ended, even if a late upload of it has ended", async () => {
  const store = openStore();
  const uploads = new BlobUploader(store, new BlobPresenceCache(null));
  const late = uploads.sendLate([blob("a")]);
  const own = uploads.send([blob("a"), blob("b")]);
  await store.answer(0);
  await late;
  // Further actions wait for the running upload, and no blob is sent again.
  let isThere = false;
  const next = uploads.send([blob("b"), blob("a")]).then(() => (isThere = true));
  const lateAgain = uploads.sendLate([blob("a")]);
  for (let turn = 0; turn < 5; turn++) await null;
  expect(isThere).toBe(false);
  const failures = Promise.allSettled([own, next, lateAgain]);
  await store.answer(1, new Error("no room"));
  for (const { status } of await failures) expect(status).toBe("rejected");
  // The failed blob does not count as present.
  const again = uploads.send([blob("a")]);
  await store.answer(2);
  await again;
  expect(store.sent).toEqual([["a"], ["a", "b"], ["a"]]);
});

test("a failed tree is sent again, and so is every tree after forget()", async () => {
  const store = openStore();
  const uploads = new BlobUploader(store, new BlobPresenceCache(null));
  const tree = { digest: digestOf(Buffer.from("tree")), blobs: [blob("a"), blob("b")] };
  const sending = uploads.sendTree(tree);
  await store.answer(0, new Error("no room"));
  await expect(sending).rejects.toThrow("no room");
  const again = Promise.all([uploads.sendTree(tree), uploads.sendTree(tree)]);
  await store.answer(1);
  await again;
  await uploads.sendTree(tree);
  expect(store.sent).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
  uploads.forget();
  const lost = uploads.sendTree(tree);
  await store.answer(2);
  await lost;
  expect(store.sent).toHaveLength(3);
});

test("a tree with a known digest equals the same files as separate inputs", () => {
  const file = (path: string): Input => ({
    kind: "file",
    path,
    digest: digestOf(Buffer.from(path)),
    isExecutable: false,
  });
  const inside = ["dep/index.js", "dep/lib/a.js"].map(file);
  const { digest } = buildInputRoot(
    inside.map((input) => ({ ...input, path: input.path.slice("dep/".length) })),
  );
  const tree: Input = { kind: "tree", path: "dep", digest };
  expect(buildInputRoot([file("z.js"), tree]).digest).toEqual(
    buildInputRoot([file("z.js"), ...inside]).digest,
  );
  expect(() => buildInputRoot([file("dep/x"), tree])).toThrow(RangeError);
  expect(() => buildInputRoot([tree, file("dep/x")])).toThrow(RangeError);
});
