// Whether two descriptors of this process are of one file or pipe, as every system tells it.

export function isSameFile(one: number, other: number): boolean {
  const { fstatSync } = process.getBuiltinModule("node:fs");
  try {
    const [first, second] = [fstatSync(one), fstatSync(other)];
    return first.ino === second.ino && first.dev === second.dev;
  } catch {
    return false; // one is closed
  }
}
