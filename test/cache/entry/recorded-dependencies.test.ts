// Validates each kind of recorded dependency against real files. Each row has one change that only this kind detects. A
// dependency that always matched would cause a stale hit.
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { validateEntry, type StaleOutputLookup } from "../../../src/cache/entry/entry-validation.ts";
import type { RecordedDependency, CacheEntry, RecordedOutput } from "../../../src/cache/entry/entry.ts";
import { hashBytes, FileHashCache } from "../../../src/cache/store/file-hash-cache.ts";
import { StatCache } from "../../../src/cache/memo/stat-cache.ts";
import { listDirectoryNames, statPath } from "../../../platform/files/path-state.ts";
import { createProject } from "../../support/project.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

const HASH = hashBytes("text");

interface Row {
  readonly condition: RecordedDependency;
  /** The outputs of the run. */
  readonly outputs?: readonly RecordedOutput[];
  /** Creates the state that the run recorded. */
  readonly before: () => void;
  /** Each change, with the end of the cache miss reason, or null if the dependency still matches. */
  readonly changes: readonly (readonly [label: string, change: () => void, reason: string | null])[];
}

const write = (name: string, text = "text") => {
  writeFileSync(name, text);
  chmodSync(name, 0o644);
};
const makeDirectory = (name: string) => {
  mkdirSync(name);
  chmodSync(name, 0o755);
};
const remove = () => rmSync("x", { recursive: true });
const replaceBy = (make: (name: string) => void) => () => {
  remove();
  make("x");
};
const link = (name: string) => symlinkSync("elsewhere", name);
const fifo = (name: string) => void Bun.spawnSync(["mkfifo", name]);

const FILE: RecordedOutput = { path: "x", kind: "file", hash: HASH, mode: 0o644 };

const ROWS: readonly Row[] = [
  {
    condition: ["absent", "x"],
    before: () => {},
    changes: [
      ["a file", () => write("x"), "x now exists"],
      ["a folder", () => makeDirectory("x"), "x now exists"],
      ["a dangling link", () => link("x"), "x now exists"],
      ["a pipe", () => fifo("x"), "x now exists"],
    ],
  },
  {
    condition: ["any", "x"],
    before: () => write("x"),
    changes: [
      ["another content", () => write("x", "other"), null],
      ["nothing", remove, null],
      ["a folder", replaceBy(makeDirectory), "x changed (type)"],
      ["a link", replaceBy(link), "x changed (type)"],
      ["a pipe", replaceBy(fifo), "x changed (type)"],
    ],
  },
  {
    condition: ["other", "x"],
    before: () => fifo("x"),
    changes: [
      ["another pipe", replaceBy(fifo), null],
      ["nothing", remove, "x was removed"],
      ["a file", replaceBy(write), "x changed (type)"],
      ["a folder", replaceBy(makeDirectory), "x changed (type)"],
      ["a link", replaceBy(link), "x changed (type)"],
    ],
  },
  {
    condition: ["directory", "x", 0o755],
    before: () => makeDirectory("x"),
    changes: [
      ["a file in it", () => write("x/new"), null],
      ["nothing", remove, "x was removed"],
      ["a file", replaceBy(write), "x changed (type)"],
      ["a link", replaceBy(link), "x changed (type)"],
      ["other permissions", () => chmodSync("x", 0o700), "x changed (permissions 700, not 755)"],
    ],
  },
  {
    condition: ["link", "x", "elsewhere"],
    before: () => link("x"),
    changes: [
      ["the same link", replaceBy(link), null],
      ["nothing", remove, "x was removed"],
      ["another target", replaceBy((name) => symlinkSync("other", name)), "x changed (symlink target)"],
      ["a file", replaceBy((name) => write(name, "elsewhere")), "x changed (symlink target)"],
      ["a folder", replaceBy(makeDirectory), "x changed (symlink target)"],
    ],
  },
  {
    condition: ["file", "x", HASH, 0o644],
    before: () => write("x"),
    changes: [
      ["another file of that content", replaceBy(write), null],
      ["nothing", remove, "x was removed"],
      ["a content of the same size", () => write("x", "TEXT"), "x changed"],
      ["other permissions", () => chmodSync("x", 0o600), "x changed (permissions 600, not 644)"],
      ["a folder", replaceBy(makeDirectory), "x changed (type)"],
      [
        "a link to a file of that content",
        () => {
          renameSync("x", "elsewhere");
          link("x");
        },
        "x changed (type)",
      ],
    ],
  },
  {
    condition: ["size", "x", 4, 0o644],
    before: () => write("x"),
    changes: [
      ["another content of the same size", () => write("x", "TEXT"), null],
      ["nothing", remove, "x was removed"],
      ["more bytes", () => write("x", "texts"), "x changed (size)"],
      ["fewer bytes", () => write("x", ""), "x changed (size)"],
      ["other permissions", () => chmodSync("x", 0o600), "x changed (permissions 600, not 644)"],
      ["a folder", replaceBy(makeDirectory), "x changed (type)"],
      ["a link", replaceBy(link), "x changed (type)"],
    ],
  },
  {
    condition: ["names", "x", ["da", "fb"]],
    before: () => {
      makeDirectory("x");
      makeDirectory("x/a");
      write("x/b");
    },
    changes: [
      ["another content", () => write("x/b", "other"), null],
      ["one more", () => write("x/c"), "x/c was added"],
      ["one fewer", () => rmSync("x/b"), "x/b was removed"],
      ["another name", () => renameSync("x/b", "x/c"), "x/c was added"],
      [
        "another kind",
        () => {
          rmSync("x/b");
          makeDirectory("x/b");
        },
        "x/b was added",
      ],
      ["nothing", remove, "cannot read directory x"],
    ],
  },
  {
    // Either the recorded state or the output of the run matches.
    condition: ["absent", "x"],
    outputs: [FILE],
    before: () => {},
    changes: [
      ["what it made", () => write("x"), null],
      ["another content", () => write("x", "TEXT"), "x now exists"],
      [
        "other permissions",
        () => {
          write("x");
          chmodSync("x", 0o600);
        },
        "x now exists",
      ],
      ["a folder", () => makeDirectory("x"), "x now exists"],
      ["a link", () => link("x"), "x now exists"],
    ],
  },
  {
    condition: ["absent", "x"],
    outputs: [{ path: "x", kind: "directory", mode: 0o755 }],
    before: () => {},
    changes: [
      ["what it made", () => makeDirectory("x"), null],
      [
        "other permissions",
        () => {
          makeDirectory("x");
          chmodSync("x", 0o700);
        },
        "x now exists",
      ],
      ["a file", () => write("x"), "x now exists"],
    ],
  },
  {
    condition: ["absent", "x"],
    outputs: [{ path: "x", kind: "link", target: "elsewhere" }],
    before: () => {},
    changes: [
      ["what it made", () => link("x"), null],
      ["another target", () => symlinkSync("other", "x"), "x now exists"],
      ["a file", () => write("x"), "x now exists"],
    ],
  },
  {
    condition: ["file", "x", HASH, 0o644],
    outputs: [{ path: "x", kind: "absent" }],
    before: () => write("x"),
    changes: [
      ["nothing, as it left it", remove, null],
      ["another content", () => write("x", "TEXT"), "x changed"],
    ],
  },
  {
    // The listing of a directory that the run created ignores the run's outputs.
    condition: ["names", "x", []],
    outputs: [
      { path: "x", kind: "directory", mode: 0o755 },
      { path: "x/y", kind: "absent" },
    ],
    before: () => {},
    changes: [
      [
        "its own file",
        () => {
          makeDirectory("x");
          write("x/y");
        },
        null,
      ],
      [
        "another file",
        () => {
          makeDirectory("x");
          write("x/z");
        },
        "x/z was added",
      ],
    ],
  },
];

/** Validates in the working directory. Returns null if all dependencies match. */
async function differenceOf(
  { condition, outputs = [] }: Row,
  lookup?: StaleOutputLookup,
): Promise<string | null> {
  const entry = { conditions: [condition], outputs } as unknown as CacheEntry;
  const hashes = new FileHashCache(
    statPath,
    () => true,
    () => null,
  );
  const world = {
    stat: statPath,
    list: listDirectoryNames,
    hashes,
    isIgnored: () => false,
    statCache: new StatCache(),
  };
  const { mismatch: difference, staleOutputs } = await validateEntry(entry, world, lookup);
  expect(staleOutputs).toEqual([]);
  return difference;
}

test
  .skipIf(process.platform === "win32")
  .each(
    ROWS.flatMap((row) => row.changes.map((change) => [row.condition[0], change[0], row, change] as const)),
  )(
  "a dependency of the kind %s validates the state after the change: %s",
  async (_kind, _what, row, change) => {
    await using project = await createProject();
    const from = process.cwd();
    process.chdir(project.path);
    try {
      row.before();
      expect(await differenceOf(row)).toBeNull();
      change[1]();
      expect(await differenceOf(row)).toBe(change[2]);
    } finally {
      process.chdir(from);
    }
  },
);

test("a hit replaces a file that another run of the script has left, but not a folder", async () => {
  await using project = await createProject();
  const path = project.join("x");
  const row = { condition: ["absent", path], outputs: [{ ...FILE, path }] } as unknown as Row;
  const lookup = (isLeft: boolean): StaleOutputLookup => ({ has: async () => isLeft, at: async () => null });
  writeFileSync(path, "other");
  expect(await differenceOf(row, lookup(true))).toBeNull();
  expect(await differenceOf(row, lookup(false))).toBe(`${path} now exists`);
  rmSync(path);
  mkdirSync(path);
  expect(await differenceOf(row, lookup(true))).toBe(`${path} now exists`);
});

const ALL_LEFT: StaleOutputLookup = { has: async () => true, at: async (paths) => paths };

test("a hit replaces an output of another run only where this run has created the file or folder", async () => {
  await using project = await createProject({ "x/z": "", "other/z": "" });
  const at = project.join("x");
  const made: RecordedOutput = { path: at, kind: "directory", mode: 0o755 };
  const names = (...names: string[]) => ["names", at, names] as const;
  const row = (condition: RecordedDependency, outputs: RecordedOutput[]) =>
    ({ condition, outputs }) as unknown as Row;
  expect(await differenceOf(row(names(), []), ALL_LEFT)).toBe(`${at}/z was added`);
  expect(await differenceOf(row(names("fa", "fz"), [made]), ALL_LEFT)).toBe(`${at}/a was removed`);
  rmSync(at, { recursive: true });
  // Behind a link are the names of another folder. The dependency on the link itself decides.
  symlinkSync("other", at);
  expect(await differenceOf(row(names(), [made]))).toBeNull();
  rmSync(at);
  writeFileSync(at, "other");
  const size = ["size", at, 4, 0o644] as const;
  expect(await differenceOf(row(size, [{ ...FILE, path: at }]), ALL_LEFT)).toBe(`${at} changed (size)`);
});

test.skipIf(!CAN_TRACE)(
  "a script that checks the size of a file before it replaces the file runs again for another size",
  async () => {
    await using project = await cachedProject(
      { t: "test -s out && echo was there; echo 1 > out" },
      { out: "12345\n" },
    );
    expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
    await project.write({ out: "" });
    const { stdout, stderr } = await project.rt(["run", "t"]);
    expect({ stdout, isHit: stderr.includes("Cached (saved") }).toEqual({ stdout: "", isHit: false });
    expect((await project.rt(["cache", "why", "t"])).stdout).toContain("out changed (size)");
  },
);
