// Reading small files at once, and detecting program files, on both systems.
import { describe, expect, test } from "bun:test";
import { isElf, isMachO, readFile } from "../../platform/files/posix/files.ts";
import { createProject } from "../support/project.ts";

const bytes = (text: string) => Uint8Array.fromHex(text.replaceAll(" ", ""));

test.each([
  ["an ELF program", "7f454c46 02010100", { elf: true, machO: false }],
  ["a Mach-O program", "cffaedfe 0c000001", { elf: false, machO: true }],
  ["a universal Mach-O program", "cafebabe 00000002", { elf: false, machO: true }],
  ["a class of Java", "cafebabe 00000034", { elf: false, machO: false }],
  ["a script", "23212f62 696e2f73", { elf: false, machO: false }],
  ["a file of two bytes", "cafe", { elf: false, machO: false }],
  ["an empty file", "", { elf: false, machO: false }],
])("isProgram() classifies the first bytes of a file: %s", (_what, start, expected) => {
  expect({ elf: isElf(bytes(start)), machO: isMachO(bytes(start)) }).toEqual(expected);
});

describe.skipIf(process.platform === "win32")("a file", () => {
  test("readFile() returns a whole file of any length, or its first bytes up to the limit", async () => {
    const text = (length: number) => "0123456789".repeat(Math.ceil(length / 10)).slice(0, length);
    const lengths = [0, 1, 65_535, 65_536, 65_537, 300_000];
    await using project = await createProject(
      Object.fromEntries(lengths.map((length) => [`${length}.txt`, text(length)])),
    );
    const decode = (content: Uint8Array | string) => new TextDecoder().decode(content as Uint8Array);
    for (const length of lengths) {
      const path = project.join(`${length}.txt`);
      expect(decode(readFile(path)) === text(length)).toBe(true);
      expect(decode(readFile(path, 5))).toBe(text(length).slice(0, 5));
    }
  });

  test("readFile() returns the system's code when the path is absent or a directory", async () => {
    await using project = await createProject({ "a/b": "" });
    expect(readFile(project.join("c"))).toBe("ENOENT");
    expect(readFile(project.join("a"))).toBe("EISDIR");
    expect(readFile(project.join("a/b/c"))).toBe("ENOTDIR");
  });

  test("readFile() returns ENOENT when the name contains NUL", async () => {
    await using project = await createProject({ a: "content" });
    expect(readFile(`${project.join("a")}\0b`)).toBe("ENOENT");
  });

  test("readFile() returns no bytes when the file is a pipe without a writer", async () => {
    await using project = await createProject();
    await Bun.$`mkfifo ${project.join("pipe")}`;
    const module = JSON.stringify(`${import.meta.dir}/../../platform/files/posix/files.ts`);
    const code = `import { readFile } from ${module}; console.log(readFile(process.argv.at(-1)).length)`;
    const { stdout } = Bun.spawnSync([process.execPath, "-e", code, project.join("pipe")], {
      timeout: 30_000, // a reader that opened the pipe would wait for a writer forever
    });
    expect(stdout.toString()).toBe("0\n");
  });
});
