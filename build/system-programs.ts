// Finds the programs that the build and the tests start, unless npm provides them. system-packages.json has a row for each.
// The set-up (setup.mjs) installs the rows.
//
// Invariants:
// - A program without a row is an error, also on a machine that has the program: a new machine would not.
// - A missing program is reported with its row, so that a skipped test says what to install.
import PACKAGES from "./system-packages.json" with { type: "json" };

export interface SystemPackage {
  /** As Debian and Ubuntu call it. */
  readonly name: string;
  readonly program?: string | readonly string[];
  readonly file?: string;
  readonly needs?: readonly string[];
}

export const SYSTEM_PACKAGES: readonly SystemPackage[] = PACKAGES;

export function programsOf({ program = [] }: SystemPackage): readonly string[] {
  return typeof program === "string" ? [program] : program;
}

/** Returns what a message calls the row of a program. @throws RangeError if the list has no such row */
function rowOf(program: string): string {
  const row = SYSTEM_PACKAGES.find((each) => programsOf(each).includes(program));
  if (!row)
    throw new RangeError(
      `build/system-packages.json has no row with the program "${program}"; add its package`,
    );
  return `"${program}" is not installed: package "${row.name}" of build/system-packages.json`;
}

/** @throws Error if the program is not installed, with its package */
export function findProgram(program: string, path = process.env.PATH ?? ""): string {
  const missing = rowOf(program);
  const found = Bun.which(program, { PATH: path });
  if (found === null) throw new Error(missing);
  return found;
}

/** Reports a missing program on standard error: `test.skipIf(!hasProgram("strace"))` then says why it skips. */
export function hasProgram(program: string, path = process.env.PATH ?? ""): boolean {
  const missing = rowOf(program);
  const isFound = Bun.which(program, { PATH: path }) !== null;
  if (!isFound) console.error(`skipped: ${missing}`);
  return isFound;
}
