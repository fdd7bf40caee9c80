// Tests that other programs can read the archives, and that the build rejects files of other origin.
import { describe, expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { type ArchiveFile, ar, gzip, tar, zip } from "../../../build/release/archive.ts";
import { compactElf } from "../../../build/executable/elf-compaction.ts";
import { createProject } from "../../support/project.ts";

const FILES: readonly ArchiveFile[] = [
  { path: "top/z.txt", content: "last ".repeat(1000) },
  { path: "top/run", content: "#!/bin/sh\necho it runs\n", isExecutable: true },
  { path: "top/deeper/ä.bin", content: Uint8Array.from({ length: 513 }, (_, index) => index % 256) },
  { path: "top/empty", content: "" },
];

describe.skipIf(process.platform === "win32")("the archive format", () => {
  const FORMATS = {
    tar: { name: "a.tar.gz", make: () => gzip(tar(FILES), 9), unpack: ["tar", "-xzf"] },
    zip: { name: "a.zip", make: () => zip(FILES, 9), unpack: ["unzip", "-q"] },
  } as const;

  for (const [format, { name, make, unpack }] of Object.entries(FORMATS)) {
    test(`${format} works in other programs`, async () => {
      await using project = await createProject();
      await writeFile(project.join(name), make());
      const child = Bun.spawn([...unpack, name], {
        cwd: project.path,
        stderr: "pipe",
        env: { ...process.env, LANG: "C.UTF-8" },
      });
      expect(await new Response(child.stderr).text()).toBe("");
      expect(await child.exited).toBe(0);
      for (const { path, content } of FILES)
        expect(Buffer.from(content as string).equals(await readFile(project.join(path)))).toBe(true);
      const { stdout } = await Bun.$`${project.join("top/run")}`.quiet();
      expect(stdout.toString()).toBe("it runs\n");
    });

    test(`${format} has the same bytes for any order of files and any time`, () => {
      const reversed = format === "tar" ? gzip(tar(FILES.toReversed()), 9) : zip(FILES.toReversed(), 9);
      expect(Buffer.from(reversed).equals(Buffer.from(make()))).toBe(true);
    });
  }
});

test("a gzip file contains neither a time nor a system", () => {
  const bytes = gzip(Buffer.from("content"), 1);
  expect([...bytes.subarray(4, 8), bytes[9]]).toEqual([0, 0, 0, 0, 255]);
});

test("a tar archive accepts names of 100 bytes and rejects longer ones", () => {
  const named = (length: number) => tar([{ path: "ä".padEnd(length - 1, "x"), content: "" }]);
  expect(Buffer.from(named(100)).toString("utf8", 0, 100)).toBe("ä".padEnd(99, "x"));
  expect(() => named(101)).toThrow("The name is too long for a tar archive: äx");
});

test.skipIf(process.platform === "win32")(
  "a Debian archive is readable by ar, also with members of odd length",
  async () => {
    await using project = await createProject();
    const members = { "debian-binary": "2.0\n", odd: "123", "odd-too": "1", last: "four" };
    const archive = ar(Object.entries(members).map(([path, content]) => ({ path, content })));
    await writeFile(project.join("a.ar"), archive);
    const { stdout } = await Bun.$`ar t a.ar`.cwd(project.path).quiet();
    expect(stdout.toString().trimEnd().split("\n")).toEqual(Object.keys(members));
    for (const [name, content] of Object.entries(members))
      expect(await Bun.$`ar p a.ar ${name}`.cwd(project.path).text()).toBe(content);
  },
);

test("compactElf() rejects a program that the toolchain did not build", async () => {
  expect(() => compactElf(new Uint8Array(Bun.file("/bin/sh").size))).toThrow();
  expect(() => compactElf(Buffer.from("\x7fELF".padEnd(4096, "\0"), "latin1"))).toThrow();
});
