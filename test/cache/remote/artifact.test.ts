// Parsing of artifacts and responses of a shared cache. Each invalid shape of an entry or archive is rejected. The signature
// is identical to turbo's.
import { expect, test } from "bun:test";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { StoredEntry, RecordedOutput } from "../../../src/cache/entry/entry.ts";
import { packContents, packIndex, readContents, readIndex } from "../../../src/cache/remote/artifact.ts";
import { reactToRead, reactToWrite } from "../../../src/cache/remote/response-actions.ts";
import { findUnshareableOutput } from "../../../src/cache/remote/shareable-outputs.ts";
import { isSigned, signArtifact } from "../../../src/cache/remote/signature.ts";
import { UploadQueue } from "../../../src/cache/remote/upload-queue.ts";

const hashOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");
const [ONE, TWO] = [hashOf("one"), hashOf("two")];

const ENTRY: StoredEntry = {
  label: "build",
  root: "/home/me/shop",
  mentioned: [],
  created: 1,
  duration: 2.5,
  conditions: [
    ["file", "page", ONE, 0o644],
    ["absent", "/etc/none"],
    ["directory", ".", 0o755],
    ["any", "dist"],
    ["size", "x", 3, 0o600],
    ["link", "l", "page"],
    ["names", "src", ["fa", "db"]],
  ],
  outputs: [
    { path: "dist", kind: "directory", mode: 0o755 },
    { path: "dist/page", kind: "file", hash: TWO, mode: 0o644 },
    { path: "dist/link", kind: "link", target: "page" },
    { path: "old", kind: "absent" },
  ],
  own: ["tmp"],
  log: ONE,
};

test("an index contains at most eight entries, and invalid entries are dropped when it is read", async () => {
  const other = { ...ENTRY, label: "other", conditions: [] };
  const { bytes: packed, entries } = (await packIndex(ENTRY, [other, { ...ENTRY, label: "the same" }]))!;
  expect(entries).toEqual([ENTRY, other]);
  expect(readIndex(packed)).toEqual([ENTRY, other]);
  const many = Array.from({ length: 20 }, (_, index) => ({
    ...other,
    label: `${index}`,
    conditions: [["any", `${index}`] as const],
  }));
  expect((await packIndex(ENTRY, many as StoredEntry[]))!.entries).toEqual([
    ENTRY,
    ...many.slice(0, 7),
  ] as StoredEntry[]);
  const read = (entry: unknown) =>
    readIndex(zstdCompressSync(JSON.stringify({ format: 1, entries: [entry] })));
  expect(read(ENTRY)).toEqual([ENTRY]);
  for (const name of Object.keys(ENTRY)) {
    const { [name as "label"]: _, ...rest } = ENTRY;
    expect([name, read(rest)]).toEqual([name, []]);
    for (const value of [null, {}, [null], [7], -1])
      expect([name, value, read({ ...ENTRY, [name]: value })]).toEqual([name, value, []]);
  }
  const more = {
    folders: { "~": "/home/me" },
    programs: {
      path: ["/bin", "~/bin", "tools"],
      found: [
        ["cat", "/bin/cat"],
        ["x", null],
      ],
    },
    user: 1000,
    isColored: true,
    mentioned: [["HOME", "dist/page", ONE]],
  } satisfies Partial<StoredEntry>;
  expect(read({ ...ENTRY, ...more })).toEqual([{ ...ENTRY, ...more }]);
  const { path, found } = more.programs;
  for (const [name, values] of Object.entries({
    folders: [null, 7, { "~": "me" }, { "~": 7 }],
    programs: [null, {}, { path }, { found }, { path: ["../bin"], found }, { path: [7], found }],
    user: [null, -1, "1000"],
    isColored: [null, 1],
    mentioned: [["HOME"], [["HOME", ""]], [["HOME", "", 7]]],
  }))
    for (const value of values)
      expect([name, value, read({ ...ENTRY, [name]: value })]).toEqual([name, value, []]);
  for (const program of [["cat"], ["cat", "../cat"], ["cat", 7], [7, null], "cat"])
    expect([program, read({ ...ENTRY, programs: { path, found: [program] } })]).toEqual([program, []]);
  expect(read({ ...ENTRY, created: 1e300 })).toEqual([]);
  for (const path of ["../evil", "dist/../../evil", "/abs", "", ".", "a\0b", "..\\evil", 7])
    expect(read({ ...ENTRY, outputs: [{ path, kind: "absent" }] })).toEqual([]);
  for (const output of [
    { path: "a", kind: "device" },
    { path: "a", kind: "__proto__" },
    { path: "a", kind: "file", hash: "../../etc/passwd", mode: 0o644 },
    { path: "a", kind: "file", hash: ONE, mode: "644" },
    { path: "a", kind: "directory", mode: -1 },
    { path: "a", kind: "link", target: 7 },
  ])
    expect(read({ ...ENTRY, outputs: [output] })).toEqual([]);
  for (const condition of [
    ["file", "page"],
    ["file", "page", ONE, 1, 1],
    ["constructor", "a"],
    ["toString", "a"],
    ["names", "a", "b"],
    [7, "a"],
  ])
    expect(read({ ...ENTRY, conditions: [condition] })).toEqual([]);
  for (const bytes of ["", "[]", '{"format":2,"entries":[]}', '{"format":1}', "null"])
    expect(readIndex(zstdCompressSync(bytes))).toBeNull();
  expect(readIndex(packed.subarray(0, 20))).toBeNull();
});

test("an output is shareable only inside the package or in declared outputs, and a symlink only within the project", () => {
  const scope = {
    root: "/r",
    packageDirectory: "/r/app",
    isDeclared: (path: string) => path.startsWith("/r/declared/"),
  };
  const isOutside = (output: RecordedOutput) =>
    findUnshareableOutput({ ...ENTRY, outputs: [output] }, scope) !== undefined;
  const file = (path: string, mode = 0o644): RecordedOutput => ({ path, kind: "file", hash: ONE, mode });
  const link = (target: string): RecordedOutput => ({ path: "/r/app/l", kind: "link", target });
  for (const output of [
    file("/r/app/a"),
    file("/r/declared/a"),
    link("a"),
    link("../other"),
    link(".."),
    file("/r/app/.gitignore"),
    file("/r/app/git~x"),
  ])
    expect([output, isOutside(output)]).toEqual([output, false]);
  for (const output of [
    ...[
      "/r/other",
      "/r/app",
      "/r/apple/a",
      "/etc/passwd",
      "/r/app/../x",
      "/r/app//a",
      "/r/app/a/",
      "/r/app/.git/hooks/x",
      "/r/app/.GIT/hooks/x",
      "/r/app/GIT~1/hooks/x",
    ].map((path) => file(path)),
    file("/r/app/a", 0o4755),
    ...["/etc/passwd", "/r/app/a", "../../x", ""].map(link),
  ])
    expect([output, isOutside(output)]).toEqual([output, true]);
});

test("an archive is rejected unless it has exactly the requested blobs with matching digests", async () => {
  const texts: Record<string, string> = { [ONE]: "one", [TWO]: "two" };
  const read = (digest: string) => (digest in texts ? Buffer.from(texts[digest]!) : null);
  const packed = (await packContents([ONE, TWO], read))!;
  const found = readContents(packed, [TWO, ONE])!;
  expect([...found].map(([digest, bytes]) => [digest, Buffer.from(bytes).toString()])).toEqual([
    [ONE, "one"],
    [TWO, "two"],
  ]);
  expect(await packContents([ONE, hashOf("three")], read)).toBeNull();
  expect(readContents(packed, [ONE])).toBeNull();
  expect(readContents(packed, [ONE, TWO, hashOf("three")])).toBeNull();
  expect(readContents(packed, [ONE, hashOf("three")])).toBeNull(); // the number matches, the digests do not
  const edits: ((tar: Buffer) => Uint8Array)[] = [
    (tar) => (tar.write("blobs/../../../evil\0", 0, "latin1"), tar),
    (tar) => ((tar[156] = 0x32), tar), // a symlink
    (tar) => ((tar[156] = 0x34), tar), // a device
    (tar) => ((tar[512]! ^= 1), tar), // other content
    (tar) => tar.subarray(0, 1024), // truncated
    (tar) => tar.subarray(0, 2048), // without the end marker
    (tar) => (tar.write("77777777777\0", 124, "latin1"), tar), // a size beyond the end
    (tar) => (tar.write("-0000000001\0", 124, "latin1"), tar),
    () => Buffer.from("no archive"),
    () => Buffer.alloc(0),
  ];
  for (const edit of edits) {
    const tar = zstdDecompressSync(packed);
    expect(readContents(zstdCompressSync(edit(tar)), [ONE, TWO])).toBeNull();
  }
  expect(readContents(packed.subarray(0, 30), [ONE, TWO])).toBeNull();
});

test("a signature covers the name, the team and the bytes, each with its length", () => {
  const key = Buffer.from("key");
  const bytes = Buffer.from("body");
  const tag = signArtifact(key, "abc", "team_1", bytes);
  // turbo's format: four fields, each after its length in eight bytes.
  const parts = ["artifact-signature:v2", "abc", "team_1", "body"].flatMap((text) => {
    const length = Buffer.alloc(8);
    length.writeUInt32LE(text.length);
    return [length, Buffer.from(text)];
  });
  expect(tag).toBe(new Bun.CryptoHasher("sha256", key).update(Buffer.concat(parts)).digest("base64"));
  expect(isSigned(tag, key, "abc", "team_1", bytes)).toBe(true);
  for (const [given, by, id, team, body] of [
    [tag, "key2", "abc", "team_1", "body"],
    [tag, "key", "abct", "eam_1", "body"],
    [tag, "key", "abc", "team_1b", "ody"],
    [tag, "key", "abc", "", "body"],
    ["", "key", "abc", "team_1", "body"],
    [`${tag}=`, "key", "abc", "team_1", "body"],
  ] as const)
    expect(isSigned(given, Buffer.from(by), id, team, Buffer.from(body))).toBe(false);
});

test("a failed response disables, delays or ignores the shared cache according to its status and code", () => {
  for (const status of [400, 404, 409, 412, 413, 501])
    expect(reactToRead(status, undefined, null, 30_000)).toEqual({});
  for (const status of [500, 502, 503, 504]) {
    const message = `Shared cache: unexpected response (${status})`;
    expect(reactToRead(status, undefined, "7", 30_000)).toEqual({ retryDelay: 2000, message });
    expect(reactToRead(status, undefined, "7", 1000).retryDelay).toBe(1000);
  }
  const pausesWithin = (patience: number) =>
    [null, "0", "3", "3600", "-1", "soon"].map(
      (after) => reactToRead(429, undefined, after, patience).retryDelay,
    );
  expect(pausesWithin(30_000)).toEqual([2000, 0, 3000, 10_000, 2000, 2000]);
  expect(pausesWithin(2500)).toEqual([2000, 0, 2500, 2500, 2000, 2000]);
  expect(reactToRead(403, "remote_caching_paused", null, 30_000)).toEqual({});
  expect(reactToRead(403, undefined, null, 30_000)).toEqual({});
  for (const [status, code] of [
    [401, undefined],
    [403, "forbidden"],
  ] as const)
    expect(reactToRead(status, code, null, 30_000)).toMatchObject({
      disables: "both",
      message: expect.stringContaining(`(${status})`),
    });
  for (const code of ["forbidden", "remote_caching_disabled", "constructor", undefined])
    expect(reactToWrite(403, code)).toMatchObject({ disables: "writing" });
  expect(reactToWrite(403, "remote_caching_disabled").message).toContain("disabled for this team");
  for (const status of [400, 404, 413, 429, 500, 503]) {
    const { message, disables, retryDelay } = reactToWrite(status, undefined);
    expect([message?.includes(`(${status})`), disables, retryDelay]).toEqual([true, undefined, undefined]);
  }
});

test("finishing uploads within a time limit returns the number of unfinished ones", async () => {
  const uploads = new UploadQueue();
  const hanging = () => new Promise<boolean>(() => {});
  const jobs = [async () => true, hanging, hanging, async () => true].map((run) => uploads.add(run));
  expect(await jobs[0]).toBe(true);
  expect(await uploads.finish(10)).toBe(3); // two that hang, and one that waits for them
  expect(await jobs[3]).toBe(false);
  expect(await uploads.add(async () => true)).toBe(false);
});
