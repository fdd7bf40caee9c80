// The contents of the programs for macOS, read on this system: they have what macOS needs, and nothing of another system or of
// tests.
import { beforeAll, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { TARGETS } from "../../build/targets.ts";
import { BEGIN, unpackScripts } from "../../src/runtime/modules/embedded-modules.ts";
import { compileFor, PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";

const MUST_HAVE = [
  "SecItemCopyMatching",
  "SecKeychainCopyDefault",
  "objc_autoreleasePoolPush",
  "kCFTypeDictionaryKeyCallBacks",
  "/usr/lib/libSystem.B.dylib",
  "_NSGetEnviron",
  "proc_pidinfo",
];
const MUST_NOT_HAVE = [
  "org.freedesktop.secrets",
  "dbus-next",
  "/proc/self/fd",
  "/proc/self/exe",
  "pipe2",
  "libc.so.6",
  "RT_STAND_IN_KEYCHAIN",
];
/** The section that processes started as the engine need. */
const PARTS_MUST_HAVE = ["SecItemUpdate", "CFStringCreateWithCharacters"];
/** Length of the end of the program that is searched first for its modules: see embedded-modules.ts. */
const FIRST_LOOK = 4 << 20;

describe.each(TARGETS.filter(({ os }) => os === "darwin"))("the program for $name", (target) => {
  let program: Buffer;
  beforeAll(async () => {
    program = await readFile(await compileFor(target));
  }, PREPARATION_TIMEOUT);

  test("the program is a Mach-O file of its architecture", () => {
    const CPU = { x64: 0x01000007, arm64: 0x0100000c };
    expect(program.readUInt32LE(0)).toBe(0xfeedfacf);
    expect(program.readUInt32LE(4)).toBe(CPU[target.arch]);
  });

  /** The engine itself contains code for every system, so only rt's part is checked. */
  test("the program contains the modules of macOS and of no other system", () => {
    const section = readSection(program, "__bun");
    expect(MUST_HAVE.filter((text) => !section.includes(text))).toEqual([]);
    expect(MUST_NOT_HAVE.filter((text) => section.includes(text))).toEqual([]);
  });

  test("the program contains the engine processes' modules once, near its end", () => {
    const begin = program.indexOf(BEGIN);
    expect(program.length - begin).toBeLessThan(FIRST_LOOK);
    expect(program.indexOf(BEGIN, begin + 1)).toBe(-1);
    const parts = unpackScripts(program)!.parts.darwin;
    expect(PARTS_MUST_HAVE.filter((text) => !parts.includes(text))).toEqual([]);
    expect(MUST_NOT_HAVE.filter((text) => parts.includes(text))).toEqual([]);
  });
});

const LC_SEGMENT_64 = 0x19;

/** Returns the content of a section of a Mach-O file. */
function readSection(program: Buffer, name: string): Buffer {
  const commands = program.readUInt32LE(16);
  let at = 32;
  for (let index = 0; index < commands; index++) {
    const isSegment = program.readUInt32LE(at) === LC_SEGMENT_64;
    const sections = isSegment ? program.readUInt32LE(at + 64) : 0;
    for (let section = at + 72; section < at + 72 + sections * 80; section += 80) {
      if (program.toString("latin1", section, section + 16).replace(/\0.*$/s, "") !== name) continue;
      const offset = program.readUInt32LE(section + 48);
      return program.subarray(offset, offset + Number(program.readBigUInt64LE(section + 40)));
    }
    at += program.readUInt32LE(at + 4);
  }
  throw new Error(`There is no section ${name}`);
}
