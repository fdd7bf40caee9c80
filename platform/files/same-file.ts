// Compares two descriptors: whether they refer to the same file or pipe.

export function isSameFile(one: number, other: number): boolean {
  const { fstatSync } = process.getBuiltinModule("node:fs");
  try {
    const [first, second] = [fstatSync(one), fstatSync(other)];
    return first.ino === second.ino && first.dev === second.dev;
  } catch {
    return false; // a descriptor is closed
  }
}
