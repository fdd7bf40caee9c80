// Creates a temporary directory with the given files for one test.
//
//   await using project = await createProject({ "package.json": { name: "x" }, "a.ts": "..." });
//
// Objects are written as JSON. The path is real (symlinks resolved), so that it can be compared with output. `executable` names
// files that get mode 755.
//
// Non-obvious:
// - Files are written synchronously, on the thread that starts programs. A program that is being started inherits files that
//   another thread has open for writing, and the system executes no such file (ETXTBSY). One test would break the programs of
//   another.
// - `write()` renames a new file into place. A program that watches would see an empty file before its content (race).
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export type Files = Record<string, string | Uint8Array | object>;

export interface Project extends AsyncDisposable {
  readonly path: string;
  join(...parts: string[]): string;
  write(files: Files): Promise<void>;
}

/** @param place the parent directory */
export async function createProject(
  files: Files = {},
  executable: readonly string[] = [],
  place = tmpdir(),
): Promise<Project> {
  const path = realpathSync(mkdtempSync(join(place, "rt-test-")));
  const writeAll = (entries: Files, isWatched: boolean) => {
    for (const [name, content] of Object.entries(entries)) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      const isRaw = typeof content === "string" || content instanceof Uint8Array;
      const isNew = isWatched && !lstatSync(file, { throwIfNoEntry: false });
      const draft = isNew ? `${path}.draft` : file;
      writeFileSync(draft, isRaw ? content : `${JSON.stringify(content, null, 2)}\n`);
      if (isNew) renameSync(draft, file);
    }
  };
  const project: Project = {
    path,
    join: (...parts) => join(path, ...parts),
    write: async (entries) => writeAll(entries, true),
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
    },
  };
  writeAll(files, false);
  for (const name of executable) chmodSync(join(path, name), 0o755);
  return project;
}
