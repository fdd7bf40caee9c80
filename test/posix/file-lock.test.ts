// Lock files, seen from another process and from the same one, until their release or their holder's death.
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { operations } from "../../platform/files/posix/file-lock.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";

const MODULE = new URL("../../platform/files/posix/file-lock.ts", import.meta.url).pathname;

function startCode(code: string, cwd: string) {
  const words = [process.execPath, "-e", `import { operations } from ${JSON.stringify(MODULE)};\n${code}`];
  return Bun.spawn(words, { cwd, stdin: "pipe", stdout: "ignore", stderr: "inherit" });
}

test("a lock file is locked until it is released, and then removed", async () => {
  await using directory = await createProject();
  const path = directory.join("held");
  const lock = operations.lockFile(path, directory.join("draft"));
  expect(readdirSync(directory.path)).toEqual(["held"]);
  // A check does not change the lock.
  expect([operations.isLocked(path), operations.isLocked(path)]).toEqual([true, true]);
  lock.release();
  expect(readdirSync(directory.path)).toEqual([]);
  expect(operations.isLocked(path)).toBe(false);
});

test("locking and checking a file leave no descriptor open", async () => {
  await using directory = await createProject();
  const path = directory.join("held");
  const openFiles = () => readdirSync("/dev/fd").length;
  operations.lockFile(path, directory.join("draft")).release(); // opens the C library
  const before = openFiles();
  const lock = operations.lockFile(path, directory.join("draft"));
  operations.isLocked(path);
  lock.release();
  expect(openFiles()).toBe(before);
});

test("a lock file is stale after its holder was killed, even if a child of the holder is alive", async () => {
  await using directory = await createProject();
  const path = directory.join("held");
  const code = `
    operations.lockFile("held", "draft");
    const child = Bun.spawn(["sleep", "1000"]);
    require("node:fs").writeFileSync("ready.part", String(child.pid));
    require("node:fs").renameSync("ready.part", "ready");
    await new Promise(() => setInterval(() => {}, 1 << 30));`;
  const holder = startCode(code, directory.path);
  await waitUntil(() => existsSync(directory.join("ready")));
  const started = Number(await Bun.file(directory.join("ready")).text());
  try {
    expect(operations.isLocked(path)).toBe(true);
    holder.kill("SIGKILL");
    await holder.exited;
    process.kill(started, 0);
    expect([operations.isLocked(path), existsSync(path)]).toEqual([false, true]);
  } finally {
    process.kill(started, "SIGKILL");
  }
});

test("a lock file appears at its path already locked", async () => {
  await using directory = await createProject();
  const code = `
    const { existsSync, readdirSync, writeFileSync } = require("node:fs");
    writeFileSync("looks", "");
    let seen = 0;
    while (!existsSync("end")) {
      // No path is created twice, so a path that exists before and after the listing always existed.
      for (const name of readdirSync(".").filter((name) => name.startsWith("held-")))
        if (!operations.isLocked(name) && existsSync(name)) seen += 1;
    }
    writeFileSync("seen", String(seen));`;
  const looker = startCode(code, directory.path);
  await waitUntil(() => existsSync(directory.join("looks")));
  for (let round = 0; round < 4000; round += 1)
    operations.lockFile(directory.join(`held-${round}`), directory.join("draft")).release();
  await directory.write({ end: "" });
  await looker.exited;
  expect(await Bun.file(directory.join("seen")).text()).toBe("0");
});

test("a failed lock leaves no file behind", async () => {
  await using directory = await createProject({ "held/inside": "" });
  expect(() => operations.lockFile(directory.join("held"), directory.join("draft"))).toThrow(
    /EISDIR|ENOTEMPTY/,
  );
  expect(readdirSync(directory.path)).toEqual(["held"]);
});
