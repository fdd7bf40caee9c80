// The table of system calls, against the kernel's headers.
import { expect, test } from "bun:test";
import { CALLS, FIRST_UNKNOWN, HIDDEN } from "../../platform/linux/tracing/calls.ts";
import { filterProgram } from "../../platform/linux/tracing/filter.ts";

/** Of x64, and the generic one, which is that of arm64. */
const HEADERS = { x64: "asm/unistd_64.h", arm64: "asm-generic/unistd.h" } as const;

function numbersIn(header: string): Map<string, number> {
  const text = `#define __ARCH_WANT_RENAMEAT\n#define __ARCH_WANT_NEW_STAT\n#include <${header}>\n`;
  const { stdout } = Bun.spawnSync(["cc", "-E", "-dM", "-x", "c", "-"], { stdin: Buffer.from(text) });
  const lines = stdout.toString().split("\n");
  const defined = new Map(
    lines.flatMap((line) => {
      const [, name, value] = /^#define (__NR\w+) (\w+)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value!] as const];
    }),
  );
  // Some are defined by another one.
  return new Map(
    [...defined].map(([name, value]) => [name.slice("__NR_".length), Number(defined.get(value) ?? value)]),
  );
}

test.skipIf(process.platform !== "linux" || process.arch !== "x64").each(["x64", "arm64"] as const)(
  "every number of %s is that of the headers, and no call is there that the table denies",
  (architecture) => {
    const numbers = numbersIn(HEADERS[architecture]);
    const wanted = (name: string) => numbers.get(name) ?? -1;
    const rows = [...CALLS, ...HIDDEN];
    const known = rows.filter((row) => wanted(row.name) >= 0 || row[architecture] < 400);
    expect(known.map((row) => `${row.name} ${row[architecture]}`)).toEqual(
      known.map(({ name }) => `${name} ${wanted(name)}`),
    );
    expect(new Set(rows.map((row) => row[architecture]).filter((number) => number >= 0)).size).toBe(
      rows.filter((row) => row[architecture] >= 0).length,
    );
    expect(Math.max(...rows.map((row) => row[architecture]))).toBeLessThan(FIRST_UNKNOWN);
  },
);

test("the filter asks for the architecture first, and its jumps stay within it", () => {
  for (const architecture of ["x64", "arm64"] as const) {
    const view = new DataView(filterProgram(architecture));
    const length = view.byteLength / 8;
    expect([view.getUint16(0, true), view.getUint32(4, true)]).toEqual([0x20, 4]);
    for (let index = 0; index < length; index += 1) {
      const isJump = (view.getUint16(index * 8, true) & 7) === 5;
      const farthest = Math.max(view.getUint8(index * 8 + 2), view.getUint8(index * 8 + 3));
      expect(index + 1 + (isJump ? farthest : 0)).toBeLessThan(length + (isJump ? 0 : 1));
    }
  }
});
