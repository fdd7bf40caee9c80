// The syscall table and the generated filter, compared with the kernel's headers.
import { expect, test } from "bun:test";
import {
  AUDIT_ARCHITECTURES,
  CALLS,
  FIRST_UNKNOWN,
  HIDDEN,
} from "../../../platform/tracing/linux/syscalls.ts";
import { filterProgram } from "../../../platform/tracing/linux/seccomp-filter.ts";

/** The header of x64, and the generic one, which arm64 uses. */
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
  // Some numbers are defined as the name of another.
  return new Map(
    [...defined].map(([name, value]) => [name.slice("__NR_".length), Number(defined.get(value) ?? value)]),
  );
}

test.skipIf(process.platform !== "linux" || process.arch !== "x64").each(["x64", "arm64"] as const)(
  "each number of %s in the syscall table equals the header's, and no call is missing",
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

test("the syscall filter checks the architecture first, and jumps only forward within its program", () => {
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

/** Runs the filter program as the kernel does, and returns its action. */
function runFilter(program: ArrayBuffer, architecture: number, number: number, values = [0, 0]): number {
  const view = new DataView(program);
  const words = new Map([
    [0, number],
    [4, architecture],
    [16, values[0]!],
    [24, values[1]!],
  ]);
  let loaded = 0;
  for (let index = 0; ; index += 1) {
    const code = view.getUint16(index * 8, true);
    const value = view.getUint32(index * 8 + 4, true);
    const jump = (holds: boolean) => (index += view.getUint8(index * 8 + (holds ? 2 : 3)));
    if (code === 0x20) loaded = words.get(value)!;
    else if (code === 0x54) loaded &= value;
    else if (code === 0x15) jump(loaded === value);
    else if (code === 0x35) jump(loaded >= value);
    else if (code === 0x06) return value;
    else throw new Error(`no instruction: ${code}`);
  }
}

test("the syscall filter notifies calls of the table and all 32-bit calls, hides some, and allows the rest", () => {
  const [ALLOW, NOTIFY, ABSENT] = [0x7fff0000, 0x7fc00000, 0x00050026];
  const [AF_UNIX, AF_INET, AF_NETLINK, STREAM, DATAGRAM] = [1, 2, 16, 1, 0x80002]; // SOCK_DGRAM | SOCK_CLOEXEC
  const I386 = 0x40000003;
  const X32 = 0x40000000;
  for (const architecture of ["x64", "arm64"] as const) {
    const program = filterProgram(architecture);
    const own = (number: number) => runFilter(program, AUDIT_ARCHITECTURES[architecture], number);
    const verdicts = new Map(Array.from({ length: FIRST_UNKNOWN }, (_, number) => [number, ALLOW]));
    for (const call of HIDDEN) verdicts.set(call[architecture], ABSENT);
    for (const call of CALLS) verdicts.set(call[architecture], NOTIFY);
    verdicts.delete(-1);
    expect([...verdicts.keys()].map((number) => [number, own(number)])).toEqual([...verdicts]);
    expect([own(FIRST_UNKNOWN), own(X32), own(X32 + 59)]).toEqual([ABSENT, ABSENT, ABSENT]);
    const socket = CALLS.find(({ special }) => special === "socket")![architecture];
    const sockets = [
      [AF_UNIX, STREAM],
      [AF_NETLINK, STREAM],
      [AF_UNIX, DATAGRAM],
      [AF_INET, STREAM],
    ].map((values) => runFilter(program, AUDIT_ARCHITECTURES[architecture], socket, values));
    expect(sockets).toEqual([ALLOW, ALLOW, NOTIFY, NOTIFY]);
    expect([0, 5, 20, 1000].map((number) => runFilter(program, I386, number))).toEqual(Array(4).fill(NOTIFY));
  }
});
