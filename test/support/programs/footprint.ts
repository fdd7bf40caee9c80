// Finds the files that a run of the tests leaves on the machine. Its temporary files are in a directory that is removed. It may
// create nothing else.
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Directories of other runs, on a machine where several run at once. */
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
 * Lists the directories in which a program without the HOME and TMPDIR of the tests creates files. Other programs use the directory
 * for temporary files too, so only names that rt or a test chooses count there.
 */
export function listFootprint({ root, home, temporary }: Places): ReadonlySet<string> {
  const ours = namesIn(temporary).filter((path) => {
    const name = path.slice(temporary.length + 1);
    return /^\.?rt-/.test(name) && !OTHER_RUNS.test(name);
  });
  return new Set([...namesIn(root), ...IN_HOME.flatMap((name) => namesIn(join(home, name))), ...ours]);
}
