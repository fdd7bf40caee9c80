// Listing directories and reading small files through libc.
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { operations as directories } from "../../platform/files/posix/directories.ts";
import { createProject } from "../support/project.ts";

const sorted = (names: readonly string[] | undefined) => [...(names ?? [])].sort();

test("listDirectory() returns directories and symlinks only", async () => {
  await using project = await createProject({ "a/x": "", "b/x": "", ".hidden/x": "", "ä ö/x": "", file: "" });
  symlinkSync("a", project.join("to-directory"));
  symlinkSync("file", project.join("to-file"));
  symlinkSync("nowhere", project.join("to-nothing"));
  Bun.spawnSync(["mkfifo", project.join("pipe")]);
  const listing = directories.listDirectory(project.path);
  expect(sorted(listing?.directories)).toEqual([".hidden", "a", "b", "ä ö"]);
  expect(sorted(listing?.links)).toEqual(["to-directory", "to-file", "to-nothing"]);
  expect(directories.listDirectory(project.join("file"))).toBeNull();
  expect(directories.listDirectory(project.join("pipe"))).toBeNull();
  expect(directories.listDirectory(project.join("nowhere"))).toBeNull();
});

test("listDirectory() returns every entry when names are long", async () => {
  await using project = await createProject();
  const names = Array.from({ length: 3000 }, (_, index) => `${index}`.padEnd(1 + (index % 255), "x"));
  for (const name of names) mkdirSync(project.join(name));
  expect(sorted(directories.listDirectory(project.path)?.directories)).toEqual(sorted(names));
});

test("listDirectory() agrees with node:fs about the system's directories", () => {
  const entries = readdirSync("/", { withFileTypes: true });
  const namesOf = (kind: "isDirectory" | "isSymbolicLink") =>
    sorted(entries.filter((entry) => entry[kind]()).map(({ name }) => name));
  const listing = directories.listDirectory("/");
  expect(sorted(listing?.directories)).toEqual(namesOf("isDirectory"));
  expect(sorted(listing?.links)).toEqual(namesOf("isSymbolicLink"));
});

test("resolveDirectory() returns the real path of a directory", async () => {
  await using project = await createProject({ "a/b/x": "", file: "" });
  symlinkSync("a/b", project.join("link"));
  symlinkSync("link", project.join("again"));
  symlinkSync("file", project.join("to-file"));
  symlinkSync("loop", project.join("loop"));
  expect(directories.resolveDirectory(project.join("a/b"))).toBe(project.join("a/b"));
  expect(directories.resolveDirectory(project.join("again"))).toBe(project.join("a/b"));
  expect(directories.resolveDirectory("/")).toBe("/");
  for (const name of ["file", "to-file", "loop", "nowhere"])
    expect({ name, path: directories.resolveDirectory(project.join(name)) }).toEqual({ name, path: null });
});

test('readText() returns small files, and "" when a file must be read again', async () => {
  const long = "x".repeat((1 << 16) - 1);
  await using project = await createProject({
    small: "a\0ä€😀",
    "deep/er/small": "b",
    outside: "c",
    "root/x": "",
    invalid: new Uint8Array([0x61, 0xff, 0x62]),
    long,
    longer: `${long}x`,
    empty: "",
  });
  symlinkSync("loop", project.join("loop"));
  const reader = directories.openReader(project.path);
  const below = directories.openReader(project.join("root"));
  const texts: Readonly<Record<string, string | null>> = {
    small: "a\0ä€😀",
    "./deep/er/small": "b",
    invalid: "a\ufffdb",
    long,
    longer: "",
    empty: "",
    deep: "",
    loop: "",
    nowhere: null,
    "small/below": null,
    ["y".repeat(5000)]: "",
  };
  for (const [name, text] of Object.entries(texts))
    expect({ name, text: reader.readText(name) }).toEqual({ name, text });
  expect(below.readText("../outside")).toBe("c");
  reader.close();
  below.close();
  expect(reader.readText("small")).toBe("");
});

test.if(process.platform === "linux")("package discovery leaves no descriptor open", async () => {
  await using project = await createProject({ "a/x": "x" });
  const count = () => readdirSync("/proc/self/fd").filter((name) => isBelow(name, project.path)).length;
  const reader = directories.openReader(project.path);
  expect(count()).toBe(1);
  directories.listDirectory(project.path);
  reader.readText("a/x");
  reader.readText("a/y");
  expect(count()).toBe(1);
  reader.close();
  expect(count()).toBe(0);
});

function isBelow(descriptor: string, directory: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(directory);
  } catch {
    return false; // the descriptor of this listing
  }
}
