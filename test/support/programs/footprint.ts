// Finds the files that a run of the tests leaves on the machine. The tests may create files only in their temporary directory,
// which is removed.
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Directories of other runs on the same machine. */
const OTHER_RUNS = /^rt-(?:tests|bare)-/;
const IN_HOME = [".", ".cache", ".config", ".local", ".local/share", ".local/state"];

export interface Places {
  readonly root: string;
  readonly home: string;
  readonly temporary: string;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return [];
  }
}

/**
 * Lists the directories where a program without the tests' HOME and TMPDIR would create files. Other programs use the temporary
 * directory too, so only names of rt and of tests count there.
 */
export function listFootprint({ root, home, temporary }: Places): ReadonlySet<string> {
  const inTemporary = namesIn(temporary).filter((path) => {
    const name = path.slice(temporary.length + 1);
    return /^\.?rt-/.test(name) && !OTHER_RUNS.test(name);
  });
  return new Set([...namesIn(root), ...IN_HOME.flatMap((name) => namesIn(join(home, name))), ...inTemporary]);
}
