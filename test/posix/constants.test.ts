// The numbers that rt passes to the C library match the system's headers.
import { expect, test } from "bun:test";
import { constants, LINUX, MACOS } from "../../platform/native/posix/constants.ts";
import { createProject } from "../support/project.ts";

/** Returns this system's values from the compiler. */
async function askCompiler(names: readonly string[]): Promise<Record<string, number>> {
  const headers = [
    "dirent",
    "errno",
    "fcntl",
    "limits",
    "signal",
    "spawn",
    "stddef",
    "sys/ioctl",
    "sys/resource",
    "termios",
    "unistd",
  ];
  await using project = await createProject({
    "constants.c": [
      "#define _GNU_SOURCE",
      ...headers.map((header) => `#include <${header}.h>`),
      "#include <stdio.h>",
      ...["linux/limits.h"].map((header) => `#if __linux__\n#include <${header}>\n#endif`),
      ...["NAME", "TYPE"].map(
        (field) => `#define DIRENT_${field} offsetof(struct dirent, d_${field.toLowerCase()})`,
      ),
      ...["CC", "LFLAG", "OFLAG"].map(
        (field) => `#define TERMIOS_${field} offsetof(struct termios, c_${field.toLowerCase()})`,
      ),
      "int main(void) {",
      ...names.map((name) => `  printf("${name} %lu\\n", (unsigned long)${name});`),
      "}",
    ].join("\n"),
  });
  const program = project.join("constants");
  const compiled = Bun.spawnSync(["cc", "-o", program, project.join("constants.c")]);
  expect(compiled.stderr.toString()).toBe("");
  const lines = Bun.spawnSync([program]).stdout.toString().trim().split("\n");
  return Object.fromEntries(
    lines.map((line) => line.split(" ")).map(([name, value]) => [name!, Number(value)]),
  );
}

test("the constants of this system match its headers", async () => {
  expect(await askCompiler(Object.keys(constants))).toEqual(constants);
});

test("both tables of constants have the same names", () => {
  expect(Object.keys(MACOS)).toEqual(Object.keys(LINUX));
  for (const [name, value] of Object.entries(MACOS))
    expect({ name, value }).not.toEqual({ name, value: LINUX[name as keyof typeof LINUX] });
  // An ioctl of BSD encodes direction, size, group and number.
  const control = (direction: number, size: number, group: string, number: number) =>
    (direction | (size << 16) | (group.charCodeAt(0) << 8) | number) >>> 0;
  const [NONE, READ, WRITE] = [0x20000000, 0x40000000, 0x80000000];
  expect(MACOS.FIONCLEX).toBe(control(NONE, 0, "f", 2));
  expect(MACOS.FIONREAD).toBe(control(READ, 4, "f", 127));
  expect(MACOS.TIOCGWINSZ).toBe(control(READ, 8, "t", 104));
  expect(MACOS.TIOCSWINSZ).toBe(control(WRITE, 8, "t", 103));
});
