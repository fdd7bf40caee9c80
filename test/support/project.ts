// Creates a temporary directory with the given files for one test.
//
//   await using project = await createProject({ "package.json": { name: "x" }, "a.ts": "..." });
//
// Objects are written as JSON. The path is real (symlinks resolved), so that it can be compared with output. `executable` names
// files that get mode 755.
//
// Non-obvious: files are written synchronously, on the thread that starts programs. A program that is being started inherits
// files that another thread has open for writing, and the system executes no such file (ETXTBSY). One test would break the
// programs of another.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
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
  const project: Project = {
    path,
    join: (...parts) => join(path, ...parts),
    async write(entries) {
      for (const [name, content] of Object.entries(entries)) {
        const file = join(path, name);
        mkdirSync(dirname(file), { recursive: true });
        const isRaw = typeof content === "string" || content instanceof Uint8Array;
        writeFileSync(file, isRaw ? content : `${JSON.stringify(content, null, 2)}\n`);
      }
    },
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
    },
  };
  await project.write(files);
  for (const name of executable) chmodSync(join(path, name), 0o755);
  return project;
}
