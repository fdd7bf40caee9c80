// `--remote` persists file hashes and the list of blobs that the server has. A damaged or outdated state must not change the
// result of a script, nor must changed files or a server that lost data.
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
import { dirname, join } from "node:path";
import { hashBytes } from "../../src/cache/store/file-hash-cache.ts";
import { statPath } from "../../platform/files/path-state.ts";
import { waitUntil } from "../support/processes.ts";
import { count, openProject, type RemoteProject, config } from "../support/servers/remote-project.ts";
import type { Environment } from "../support/rt.ts";

const FILES = 20;
const BUILD = "mkdir -p dist; cat in.txt | tee dist/out.txt report.txt";

/** A package with several files. Its script prints one of them. */
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

/** Waits until no file has a racy timestamp. */
async function settle({ project }: RemoteProject): Promise<void> {
  const isFresh = (name: string) => {
    const state = statPath(project.join(name));
    return state.kind === "file" && state.isFresh;
  };
  await waitUntil(
    () => !readdirSync(project.path, { recursive: true }).some((name) => isFresh(String(name))),
  );
}

async function expectOutput(opened: RemoteProject, output: string, env?: Environment): Promise<void> {
  const { stdout, stderr, status } = await opened.run(["run", "--remote", "--silent", "build"], env);
  expect({ stdout, stderr, status }).toEqual({ stdout: output, stderr: "", status: 0 });
  expect(await Bun.file(opened.project.join("dist/out.txt")).text()).toBe(output);
}

/** The number of calls of findMissingBlobs. A wrong hash would cause one more. */
const queryCount = ({ server }: RemoteProject) => count(server, "findMissingBlobs");

/** Returns the path of the only state file of this kind. */
function stateFile({ cache }: RemoteProject, kind: string): string {
  const folder = join(cache, "rt/scripts-5", kind);
  const [name, ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  return join(folder, name!);
}

/** Replaces the hash of a file in the state by another one. */
function falsifyHash(opened: RemoteProject, name: string): void {
  const path = stateFile(opened, "hashes");
  const { ino } = statSync(opened.project.join(name));
  const lines = readFileSync(path, "latin1").slice(65).split("\n");
  const at = lines.findIndex((line) => line.split(":")[1] === String(ino));
  lines[at] = lines[at]!.replace(/[\da-f]{64}$/, hashBytes("another"));
  const text = lines.join("\n");
  writeFileSync(path, `${hashBytes(text)}\n${text}`);
}

describe.if(process.platform === "linux")("persisted state of --remote", () => {
  test("a changed file is hashed again, even with equal size and time", async () => {
    await using opened = await open();
    const { project } = opened;
    await expectOutput(opened, "one\n");
    const path = project.join("in.txt");
    const { atime, mtime, size } = statSync(path);
    writeFileSync(path, "two\n");
    utimesSync(path, atime, mtime);
    expect(statSync(path)).toMatchObject({ size, mtime });
    await settle(opened);
    await expectOutput(opened, "two\n");
    // Another file with the same size and time replaces it.
    writeFileSync(project.join("next"), "six\n");
    utimesSync(project.join("next"), atime, mtime);
    Bun.spawnSync(["mv", "next", "in.txt"], { cwd: project.path });
    await settle(opened);
    await expectOutput(opened, "six\n");
    expect(queryCount(opened)).toBe(1);
  });

  test("an unchanged file is not hashed again, and a wrong hash makes rt hash all files again", async () => {
    await using opened = await open();
    await expectOutput(opened, "one\n");
    falsifyHash(opened, "in.txt");
    expect(queryCount(opened)).toBe(1);
    await expectOutput(opened, "one\n");
    expect(queryCount(opened)).toBe(2);
    // The state is correct again.
    await expectOutput(opened, "one\n");
    expect(queryCount(opened)).toBe(2);
  });

  const damage = {
    "a changed byte": (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -2), Buffer.from("f\n")]),
    "a missing end": (bytes: Buffer) => bytes.subarray(0, bytes.lastIndexOf("\n", -2) + 1),
    "no content": () => Buffer.alloc(0),
    "a part of a digest only": (bytes: Buffer) => bytes.subarray(0, 40),
    "other bytes": () => Buffer.from([0, 255, 10, 200]),
  };
  test("a state file that is damaged, or that other users could have written, counts as empty", async () => {
    await using opened = await open();
    await expectOutput(opened, "one\n");
    const path = stateFile(opened, "hashes");
    const changes = {
      ...damage,
      "a folder that other users may write to": (bytes: Buffer) => {
        chmodSync(dirname(path), 0o777);
        return bytes;
      },
    };
    for (const [what, change] of Object.entries(changes)) {
      falsifyHash(opened, "in.txt");
      writeFileSync(path, change(readFileSync(path)));
      writeFileSync(stateFile(opened, "there"), "");
      opened.server.results.clear();
      const before = queryCount(opened);
      await expectOutput(opened, "one\n");
      expect([what, queryCount(opened) - before]).toEqual([what, 1]);
    }
  });

  test("remote scripts run without a directory for the state", async () => {
    await using opened = await open();
    const file = join(opened.cache, "file");
    writeFileSync(file, "");
    const nowhere: Environment = { XDG_CACHE_HOME: undefined, HOME: undefined };
    for (const env of [nowhere, { XDG_CACHE_HOME: file }, { XDG_CACHE_HOME: "/proc" }])
      for (const text of ["one\n", "two\n"]) {
        await opened.project.write({ "in.txt": text });
        await expectOutput(opened, text, env);
      }
    // A directory at the path of the state file can be neither read nor overwritten.
    await expectOutput(opened, "two\n");
    const path = stateFile(opened, "hashes");
    Bun.spawnSync(["rm", path]);
    mkdirSync(path);
    await opened.project.write({ "in.txt": "six\n" });
    await expectOutput(opened, "six\n");
    expect(readdirSync(join(opened.cache, "rt/scripts-5/drafts"))).toEqual([]);
  });

  test("concurrent rt processes leave a valid state", async () => {
    await using opened = await open();
    for (const text of ["one\n", "two\n"]) {
      await opened.project.write({ "in.txt": text });
      const words = ["run", "--remote", "--silent", "build"];
      const all = await Promise.all(Array.from({ length: 6 }, async () => await opened.run(words)));
      expect(all).toEqual(all.map(() => ({ stdout: text, stderr: "", status: 0 })));
      for (const kind of ["hashes", "there"]) {
        const bytes = readFileSync(stateFile(opened, kind));
        expect(hashBytes(bytes.subarray(65))).toBe(bytes.toString("latin1", 0, 64));
      }
    }
    expect(readdirSync(join(opened.cache, "rt/scripts-5/drafts"))).toEqual([]);
  });

  test("blobs that the server has are not queried again, and new small files are uploaded at once", async () => {
    await using opened = await open();
    const { project, server } = opened;
    await expectOutput(opened, "one\n");
    expect(queryCount(opened)).toBe(1);
    await project.write({ "in.txt": "two\n" });
    await expectOutput(opened, "two\n");
    expect(queryCount(opened)).toBe(1);
    // Large files are queried, because another client may have uploaded them.
    await project.write({ "in.txt": "x".repeat(300_000) });
    await expectOutput(opened, "x".repeat(300_000));
    expect(queryCount(opened)).toBe(2);
    // The state of another instance or of other credentials does not apply.
    await project.write({ "rtfig.toml": config(server.url, 'instance = "other"') });
    await expectOutput(opened, "x".repeat(300_000));
    expect(queryCount(opened)).toBe(3);
    await project.write({ "rtfig.toml": config(server.url, 'headers = { key = "other" }') });
    await expectOutput(opened, "x".repeat(300_000));
    expect(queryCount(opened)).toBe(4);
  });

  test("a server that has lost all blobs gets them again", async () => {
    await using opened = await open();
    const { project, server } = opened;
    await expectOutput(opened, "one\n");
    const had = server.blobs.size;
    for (const text of ["two\n", "six\n"]) {
      server.blobs.clear();
      server.results.clear();
      await project.write({ "in.txt": text });
      const executed = count(server, "execute");
      await expectOutput(opened, text);
      // The first execution fails, because blobs are missing.
      expect(count(server, "execute") - executed).toBe(2);
      expect(server.blobs.size).toBe(had);
    }
    // A server that has lost one file gets it again, and the state records that.
    server.blobs.delete(hashBytes("7\n"));
    server.results.clear();
    await expectOutput(opened, "six\n");
    const before = queryCount(opened);
    server.results.clear();
    await expectOutput(opened, "six\n");
    expect(queryCount(opened)).toBe(before);
  });

  test("directories of node_modules are not queried again", async () => {
    await using opened = await open();
    const { project, server } = opened;
    await project.write({ "node_modules/dep/index.js": "1", "node_modules/dep/more.js": "2" });
    await expectOutput(opened, "one\n");
    const before = queryCount(opened);
    await project.write({ "in.txt": "two\n" });
    await expectOutput(opened, "two\n");
    expect(queryCount(opened)).toBe(before);
    server.blobs.delete(hashBytes("2"));
    server.results.clear();
    await expectOutput(opened, "two\n");
    expect(server.blobs.has(hashBytes("2"))).toBe(true);
  });
});
