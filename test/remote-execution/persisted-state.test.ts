// What one run of `--remote` remembers for the next: the hashes of files, and what the server has. It is a memory and no more:
// whatever becomes of it, of the files or of the server, a script runs with what the files are.
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { hashBytes } from "../../src/cache/store/file-hash-cache.ts";
import { statPath } from "../../platform/files/path-state.ts";
import { waitUntil } from "../support/processes.ts";
import { count, openProject, type RemoteProject, config } from "../support/servers/remote-project.ts";
import type { Environment } from "../support/rt.ts";

const FILES = 20;
const BUILD = "mkdir -p dist; cat in.txt | tee dist/out.txt report.txt";

/** A package of some files, whose script says what one of them is. */
async function open(): Promise<RemoteProject> {
  const others = Array.from({ length: FILES }, (_, at) => [`src/${at}.txt`, `${at}\n`]);
  const opened = await openProject({
    "package.json": { name: "one", scripts: { build: BUILD } },
    "in.txt": "one\n",
    ...Object.fromEntries(others),
  });
  await settle(opened);
  return opened;
}

/** All files are older than what a file system's clock can tell apart. */
async function settle({ project }: RemoteProject): Promise<void> {
  const isFresh = (name: string) => {
    const state = statPath(project.join(name));
    return state.kind === "file" && state.isFresh;
  };
  await waitUntil(
    () => !readdirSync(project.path, { recursive: true }).some((name) => isFresh(String(name))),
  );
}

async function expectSaid(opened: RemoteProject, said: string, env?: Environment): Promise<void> {
  const { stdout, stderr, status } = await opened.run(["run", "--remote", "--silent", "build"], env);
  expect({ stdout, stderr, status }).toEqual({ stdout: said, stderr: "", status: 0 });
  expect(await Bun.file(opened.project.join("dist/out.txt")).text()).toBe(said);
}

/** How often the server was asked what is missing: once more by who has taken a file for another than it is. */
const questions = ({ server }: RemoteProject) => count(server, "findMissingBlobs");

/** The one file of that kind in the memory. */
function memoryOf({ cache }: RemoteProject, kind: string): string {
  const folder = join(cache, "rt/scripts-4", kind);
  const [name, ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  return join(folder, name!);
}

/** The memory says of a file that it is another, as it would have been written. */
function lie(opened: RemoteProject, name: string): void {
  const path = memoryOf(opened, "hashes");
  const { ino } = statSync(opened.project.join(name));
  const lines = readFileSync(path, "latin1").slice(65).split("\n");
  const at = lines.findIndex((line) => line.split(":")[1] === String(ino));
  lines[at] = lines[at]!.replace(/[\da-f]{64}$/, hashBytes("another"));
  const text = lines.join("\n");
  writeFileSync(path, `${hashBytes(text)}\n${text}`);
}

describe.if(process.platform === "linux")("what --remote remembers", () => {
  test("a file that has changed is hashed again, whatever of it is as before", async () => {
    await using opened = await open();
    const { project } = opened;
    await expectSaid(opened, "one\n");
    const path = project.join("in.txt");
    const { atime, mtime, size } = statSync(path);
    writeFileSync(path, "two\n");
    utimesSync(path, atime, mtime);
    expect(statSync(path)).toMatchObject({ size, mtime });
    await settle(opened);
    await expectSaid(opened, "two\n");
    // Another file in its place, of the same size and time.
    writeFileSync(project.join("next"), "six\n");
    utimesSync(project.join("next"), atime, mtime);
    Bun.spawnSync(["mv", "next", "in.txt"], { cwd: project.path });
    await settle(opened);
    await expectSaid(opened, "six\n");
    expect(questions(opened)).toBe(1);
  });

  test("what is remembered is not read again, and where it is not true all is", async () => {
    await using opened = await open();
    await expectSaid(opened, "one\n");
    lie(opened, "in.txt");
    expect(questions(opened)).toBe(1);
    await expectSaid(opened, "one\n");
    expect(questions(opened)).toBe(2);
    // By now it is true again.
    await expectSaid(opened, "one\n");
    expect(questions(opened)).toBe(2);
  });

  const damage = {
    "another byte in it": (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -2), Buffer.from("f\n")]),
    "the end missing": (bytes: Buffer) => bytes.subarray(0, bytes.lastIndexOf("\n", -2) + 1),
    "nothing in it": () => Buffer.alloc(0),
    "only a part of a digest": (bytes: Buffer) => bytes.subarray(0, 40),
    "other bytes": () => Buffer.from([0, 255, 10, 200]),
  };
  test.each(Object.entries(damage))("a memory with %s is an empty one", async (_, change) => {
    await using opened = await open();
    await expectSaid(opened, "one\n");
    lie(opened, "in.txt");
    const path = memoryOf(opened, "hashes");
    writeFileSync(path, change(readFileSync(path)));
    writeFileSync(memoryOf(opened, "there"), "");
    opened.server.results.clear();
    await expectSaid(opened, "one\n");
    expect(questions(opened)).toBe(2);
  });

  test("a memory that others could have written is none", async () => {
    await using opened = await open();
    await expectSaid(opened, "one\n");
    lie(opened, "in.txt");
    writeFileSync(memoryOf(opened, "there"), "");
    chmodSync(join(opened.cache, "rt/scripts-4/hashes"), 0o777);
    opened.server.results.clear();
    await expectSaid(opened, "one\n");
    expect(questions(opened)).toBe(2);
  });

  test("scripts run without a place for a memory", async () => {
    await using opened = await open();
    const file = join(opened.cache, "file");
    writeFileSync(file, "");
    const nowhere: Environment = { XDG_CACHE_HOME: undefined, HOME: undefined };
    for (const env of [nowhere, { XDG_CACHE_HOME: file }, { XDG_CACHE_HOME: "/proc" }])
      for (const text of ["one\n", "two\n"]) {
        await opened.project.write({ "in.txt": text });
        await expectSaid(opened, text, env);
      }
    // A folder where the file should be: it can be neither read nor written.
    await expectSaid(opened, "two\n");
    const path = memoryOf(opened, "hashes");
    Bun.spawnSync(["rm", path]);
    mkdirSync(path);
    await opened.project.write({ "in.txt": "six\n" });
    await expectSaid(opened, "six\n");
    expect(readdirSync(join(opened.cache, "rt/scripts-4/drafts"))).toEqual([]);
  });

  test("many rt at once leave a memory that is whole", async () => {
    await using opened = await open();
    for (const text of ["one\n", "two\n", "six\n"]) {
      await opened.project.write({ "in.txt": text });
      const words = ["run", "--remote", "--silent", "build"];
      const all = await Promise.all(Array.from({ length: 6 }, async () => await opened.run(words)));
      expect(all).toEqual(all.map(() => ({ stdout: text, stderr: "", status: 0 })));
      for (const kind of ["hashes", "there"]) {
        const bytes = readFileSync(memoryOf(opened, kind));
        expect(hashBytes(bytes.subarray(65))).toBe(bytes.toString("latin1", 0, 64));
      }
    }
    expect(readdirSync(join(opened.cache, "rt/scripts-4/drafts"))).toEqual([]);
  });

  test("what the server has is not asked for again, and what is new is sent at once", async () => {
    await using opened = await open();
    const { project, server } = opened;
    await expectSaid(opened, "one\n");
    expect(questions(opened)).toBe(1);
    await project.write({ "in.txt": "two\n" });
    await expectSaid(opened, "two\n");
    expect(questions(opened)).toBe(1);
    // What is large is asked for, as somebody else may have sent it.
    await project.write({ "in.txt": "x".repeat(300_000) });
    await expectSaid(opened, "x".repeat(300_000));
    expect(questions(opened)).toBe(2);
    // Nobody else's server has to have the same.
    await project.write({ "rtfig.toml": config(server.url, 'instance = "other"') });
    await expectSaid(opened, "x".repeat(300_000));
    expect(questions(opened)).toBe(3);
    await project.write({ "rtfig.toml": config(server.url, 'headers = { key = "other" }') });
    await expectSaid(opened, "x".repeat(300_000));
    expect(questions(opened)).toBe(4);
  });

  test("a server that has lost what it had gets all of it again", async () => {
    await using opened = await open();
    const { project, server } = opened;
    await expectSaid(opened, "one\n");
    const had = server.blobs.size;
    for (const text of ["two\n", "six\n"]) {
      server.blobs.clear();
      server.results.clear();
      await project.write({ "in.txt": text });
      const executed = count(server, "execute");
      await expectSaid(opened, text);
      // The first is refused, since something is missing.
      expect(count(server, "execute") - executed).toBe(2);
      expect(server.blobs.size).toBe(had);
    }
    // One that has lost a single file; and it is remembered that it has it again.
    server.blobs.delete(hashBytes("7\n"));
    server.results.clear();
    await expectSaid(opened, "six\n");
    const asked = questions(opened);
    server.results.clear();
    await expectSaid(opened, "six\n");
    expect(questions(opened)).toBe(asked);
  });

  test("no folder of node_modules is asked for again", async () => {
    await using opened = await open();
    const { project, server } = opened;
    await project.write({ "node_modules/dep/index.js": "1", "node_modules/dep/more.js": "2" });
    await expectSaid(opened, "one\n");
    const asked = questions(opened);
    await project.write({ "in.txt": "two\n" });
    await expectSaid(opened, "two\n");
    expect(questions(opened)).toBe(asked);
    server.blobs.delete(hashBytes("2"));
    server.results.clear();
    await expectSaid(opened, "two\n");
    expect(server.blobs.has(hashBytes("2"))).toBe(true);
  });
});
