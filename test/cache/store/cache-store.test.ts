// The store of cache entries: eviction, deduplication, permissions, and damaged or forged entries.
import { expect, test } from "bun:test";
import { readdir, readFile, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { CacheStore } from "../../../src/cache/store/cache-store.ts";
import { createProject } from "../../support/project.ts";
import { RT, runRt } from "../../support/rt.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

interface Kept {
  readonly path: string;
  readonly label: string;
  readonly blobs: readonly string[];
}

const storeOf = ({ cache }: CachedProject) => `${cache}/rt/scripts-5`;
const blobAt = (project: CachedProject, hash: string) =>
  `${storeOf(project)}/blobs/${hash.slice(0, 2)}/${hash}`;

async function readEntry(path: string) {
  return JSON.parse(Bun.zstdDecompressSync(await readFile(path)).toString());
}

/** The entries, by the names of their scripts. */
async function entriesOf(project: CachedProject): Promise<Map<string, Kept>> {
  const store = storeOf(project);
  const entries = new Map<string, Kept>();
  for (const name of new Bun.Glob("keys/*/*.zst").scanSync(store)) {
    const path = `${store}/${name}`;
    const { label, outputs } = await readEntry(path);
    entries.set(label, { path, label, blobs: outputs.map(({ hash }: { hash: string }) => hash) });
  }
  return entries;
}

const exists = async (path: string) => await Bun.file(path).exists();

/** Sets the times of a file to this many hours ago. */
async function backdate(path: string, hours: number): Promise<void> {
  const time = new Date(Date.now() - hours * 3_600_000);
  await utimes(path, time, time);
}

test.skipIf(!CAN_TRACE)(
  "the store evicts least recently used entries above 5 GB, and no more than necessary",
  async () => {
    const names = ["a", "b", "c", "again", "last"];
    await using project = await cachedProject(
      Object.fromEntries(names.map((name) => [name, `cat in > ${name}.out; echo ${name} >> ${name}.out`])),
      { in: "same for all\n" },
    );
    const store = storeOf(project);
    for (const name of ["a", "b", "c"]) expect(await project.run(name)).toBe("ran");
    const before = await entriesOf(project);
    expect([...before.keys()].toSorted()).toEqual(["a", "b", "c"]);
    // Sparse files of 3 GB each, which take no disk space.
    const sized = async (hash: string, hours: number) => {
      await truncate(blobAt(project, hash), 3 * 1024 ** 3);
      await backdate(blobAt(project, hash), hours);
    };
    await sized(before.get("a")!.blobs[0]!, 5);
    await sized(before.get("b")!.blobs[0]!, 4);
    await backdate(before.get("b")!.path, 4);
    await backdate(before.get("c")!.path, 3);
    await backdate(before.get("a")!.path, 5);
    const [old, fresh] = ["0".repeat(64), "1".repeat(64)];
    for (const hash of [old, fresh]) await Bun.write(blobAt(project, hash), "named by no entry");
    await backdate(blobAt(project, old), 1);

    // The first run checked the size, and the next check is due after ten minutes.
    expect(await project.run("again")).toBe("ran");
    expect([...(await entriesOf(project)).keys()].toSorted()).toEqual(["a", "again", "b", "c"]);
    await backdate(`${store}/shrunk`, 0.2);
    expect(await project.run("last")).toBe("ran");
    const after = await entriesOf(project);
    expect([...after.keys()].toSorted()).toEqual(["again", "b", "c", "last"]);
    const isThere = async (...hashes: string[]) =>
      await Promise.all(hashes.map((hash) => exists(blobAt(project, hash))));
    expect(await isThere(before.get("a")!.blobs[0]!, old)).toEqual([false, false]);
    // New blobs without an entry are kept for a while, because another rt may be about to reference them.
    expect(await isThere(fresh, before.get("b")!.blobs[0]!, before.get("c")!.blobs[0]!)).toEqual([
      true,
      true,
      true,
    ]);
    for (const name of ["c", "again", "last"]) {
      await rm(project.join(`${name}.out`));
      expect([name, await project.run(name)]).toEqual([name, "hit"]);
    }
    expect(await project.run("a")).toBe("ran");
  },
);

test.skipIf(!CAN_TRACE)(
  "a hit makes an entry the most recently used, and a shared blob is kept",
  async () => {
    await using project = await cachedProject(
      { a: "cat in > a.out", b: "cat in > b.out; echo > own", last: "true" },
      { in: "same for both\n" },
    );
    for (const name of ["a", "b"]) expect(await project.run(name)).toBe("ran");
    const entries = await entriesOf(project);
    const [shared] = entries.get("a")!.blobs;
    const own = entries.get("b")!.blobs.find((hash) => hash !== shared)!;
    expect(entries.get("b")!.blobs.toSorted()).toEqual([own, shared!].toSorted());
    await backdate(entries.get("a")!.path, 9);
    await backdate(entries.get("b")!.path, 8);
    expect(await project.run("a")).toBe("hit");
    for (const hash of [own, "2".repeat(64)]) {
      await Bun.write(blobAt(project, hash), "");
      await truncate(blobAt(project, hash), 3 * 1024 ** 3);
    }
    for (const hash of [own, shared!]) await backdate(blobAt(project, hash), 9);
    await backdate(`${storeOf(project)}/shrunk`, 1);
    expect(await project.run("last")).toBe("ran");
    expect([...(await entriesOf(project)).keys()].toSorted()).toEqual(["a", "last"]);
    expect(await exists(blobAt(project, own))).toBe(false);
    await rm(project.join("a.out"));
    expect(await project.run("a")).toBe("hit");
    expect(await Bun.file(project.join("a.out")).text()).toBe("same for both\n");
  },
);

test.skipIf(!CAN_TRACE)("the store keeps the last 16 entries of a key, and no entry twice", async () => {
  await using project = await cachedProject({ t: "cat data" }, { data: "0" });
  expect(await project.run("t")).toBe("ran");
  expect((await project.rt(["--force", "run", "t"])).status).toBe(0);
  expect((await project.rt(["cache"])).stdout).toStartWith("1 entry (");
  const [first] = (await entriesOf(project)).values();
  await backdate(first!.path, 1);
  for (let content = 1; content <= 16; content += 1) {
    await project.write({ data: String(content) });
    expect(await project.run("t")).toBe("ran");
  }
  expect((await project.rt(["cache"])).stdout).toStartWith("16 entries (");
  await project.write({ data: "1" });
  expect(await project.run("t")).toBe("hit");
  await project.write({ data: "0" });
  expect(await project.run("t")).toBe("ran");
});

test.skipIf(!CAN_TRACE)("only the user can read the store, whatever the umask", async () => {
  await using project = await cachedProject({ t: "echo text; echo more > out; chmod 755 out" });
  const { status } = await runRt({
    program: ["bash", "-c", 'umask 0; exec "$0" "$@"', RT],
    args: ["run", "t"],
    cwd: project.path,
    env: { XDG_CACHE_HOME: project.cache },
  });
  expect(status).toBe(0);
  const store = storeOf(project);
  const names = (await readdir(store, { recursive: true })).toSorted();
  const kinds = new Set(names.map((name) => name.split("/")[0]!));
  expect([...kinds]).toEqual([
    "blobs",
    "drafts",
    "hashes",
    "keys",
    "known",
    "presence",
    "scripts",
    "secret",
    "shrunk",
    "there",
  ]);
  expect(await readdir(`${store}/drafts`)).toEqual([]);
  for (const name of ["", ...names]) {
    const found = await stat(`${store}/${name}`);
    expect([name, (found.mode & 0o777).toString(8)]).toEqual([name, found.isDirectory() ? "700" : "600"]);
  }
});

test("threads that open a new store concurrently get the same secret", async () => {
  await using folder = await createProject({});
  const arrivals = new Int32Array(new SharedArrayBuffer(4));
  const ROUNDS = 100;
  const THREADS = 4;
  const ask = async () => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    const worker = new Worker(new URL("secret-asker.ts", import.meta.url));
    worker.onmessage = ({ data }: MessageEvent<string[]>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage({ folder: folder.path, arrivals, rounds: ROUNDS, threads: THREADS });
    return await promise.finally(() => worker.terminate());
  };
  const [first, ...others] = await Promise.all(Array.from({ length: THREADS }, ask));
  expect(new Set(first).size).toBe(ROUNDS);
  for (const secrets of others) expect(secrets).toEqual(first!);
  for (let round = 0; round < ROUNDS; round += 1)
    expect(await readdir(folder.join(`rt/${round}/drafts`))).toEqual([]);
});

test.skipIf(!CAN_TRACE)(
  "an entry whose content does not match its name, or whose paths are outside the project, is not used",
  async () => {
    await using project = await cachedProject({ t: "cp in out" }, { in: "1" });
    expect(await project.run("t")).toBe("ran");
    const [stored] = (await entriesOf(project)).values();
    const entry = await readEntry(stored!.path);
    const evil = { ...entry, outputs: [{ path: "evil", kind: "link", target: "/etc" }] };
    const bytes = Bun.zstdCompressSync(JSON.stringify(evil));
    await writeFile(stored!.path, bytes);
    await rm(project.join("out"));
    expect(await project.run("t")).toBe("ran");
    expect(await readdir(project.path)).not.toContain("evil");
    // With a matching name it is still rejected because of its paths.
    for (const path of ["../evil", project.join("evil"), "a/../../evil"]) {
      const [own] = [...(await entriesOf(project)).values()].map((each) => each.path);
      const outside = { ...entry, outputs: [{ path, kind: "link", target: "/etc" }] };
      const compressed = Bun.zstdCompressSync(JSON.stringify(outside));
      const hash = new Bun.CryptoHasher("sha256").update(compressed).digest("hex");
      const name = basename(own!).replace(/[\da-f]{64}\.zst$/, `${hash}.zst`);
      await writeFile(join(dirname(own!), name), compressed);
      await rm(own!);
      await rm(project.join("out"));
      expect([path, await project.run("t")]).toEqual([path, "ran"]);
      expect(await readdir(dirname(own!))).not.toContain(name);
      expect(await readdir(project.path)).not.toContain("evil");
    }
  },
);

test.skipIf(!CAN_TRACE)("an entry with a path instead of a hash deletes no file", async () => {
  await using project = await cachedProject({ t: "cp in out" }, { in: "1" });
  await using others = await createProject({ victim: "somebody's" });
  expect(await project.run("t")).toBe("ran");
  const up = relative(join(storeOf(project), "blobs/.."), others.join("victim"));
  const [stored] = (await entriesOf(project)).values();
  const entry = await readEntry(stored!.path);
  const [output] = entry.outputs;
  const evil = [
    { log: up },
    { outputs: [{ ...output, hash: up }] },
    { outputs: [{ ...output, hash: `../${up}` }] },
  ];
  for (const change of evil) {
    const [own] = [...(await entriesOf(project)).values()].map((each) => each.path);
    const bytes = Bun.zstdCompressSync(JSON.stringify({ ...entry, ...change }));
    const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    await writeFile(join(dirname(own!), basename(own!).replace(/[\da-f]{64}\.zst$/, `${hash}.zst`)), bytes);
    await rm(own!);
    await rm(project.join("out"));
    expect([change, await project.run("t")]).toEqual([change, "ran"]);
    expect(await Bun.file(others.join("victim")).text()).toBe("somebody's");
  }
  const store = new CacheStore(storeOf(project));
  expect([store.readBlob(up), await store.checkBlob(up)]).toEqual([null, false]);
  expect(await Bun.file(others.join("victim")).text()).toBe("somebody's");
});

test.skipIf(!CAN_TRACE)("a damaged output log of the same size is not replayed", async () => {
  await using project = await cachedProject({ t: "echo text" });
  expect(await project.run("t")).toBe("ran");
  const [stored] = (await entriesOf(project)).values();
  const log = blobAt(project, (await readEntry(stored!.path)).log);
  const bytes = await readFile(log);
  await writeFile(log, bytes.toString("latin1").replace("text", "TEXT"), "latin1");
  expect((await stat(log)).size).toBe(bytes.length);
  const { stdout, stderr } = await project.rt(["run", "t"]);
  expect({ stdout, stderr }).toEqual({ stdout: "text\n", stderr: expect.not.stringContaining("Done") });
  expect(await project.run("t")).toBe("hit");
});

test.skipIf(!CAN_TRACE)(
  "a damaged secret of the store is replaced, and older entries are not found",
  async () => {
    await using project = await cachedProject({ t: "cat in" }, { in: "1" });
    expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
    const secret = `${storeOf(project)}/secret`;
    await writeFile(secret, "short");
    expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
    expect((await stat(secret)).size).toBe(32);
  },
);
