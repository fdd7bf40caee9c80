// How programs are told from other files, on both systems.
import { expect, test } from "bun:test";
import { isElf, isMachO } from "../../platform/posix/files.ts";

const bytes = (text: string) => Uint8Array.fromHex(text.replaceAll(" ", ""));

test.each([
  ["an ELF program", "7f454c46 02010100", { elf: true, machO: false }],
  ["a Mach-O program", "cffaedfe 0c000001", { elf: false, machO: true }],
  ["a universal Mach-O program", "cafebabe 00000002", { elf: false, machO: true }],
  ["a class of Java", "cafebabe 00000034", { elf: false, machO: false }],
  ["a script", "23212f62 696e2f73", { elf: false, machO: false }],
  ["a file of two bytes", "cafe", { elf: false, machO: false }],
  ["an empty file", "", { elf: false, machO: false }],
])("%s", (_what, start, expected) => {
  expect({ elf: isElf(bytes(start)), machO: isMachO(bytes(start)) }).toEqual(expected);
});
