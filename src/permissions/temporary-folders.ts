// Private folders of temporary files, one for each task that runs.
//
// Invariants:
// - No two tasks use a folder at the same time.
// - A folder is used again only if it is empty and unchanged. A task could leave files, a mode, or access for other users (ACL).
// Non-obvious:
// - On ext4, the removal of a folder takes as long as the start of a launcher.
import { adoptedFolder } from "../../platform/permissions/adoption.ts";
import { makeTemporaryFolder, removeTemporaryFolder } from "../../platform/files/temporary-folder.ts";

interface EmptyFolder {
  readonly path: string;
  readonly state: string;
}

export class TemporaryFolders {
  readonly #used = new Map<string, EmptyFolder>();
  readonly #free: EmptyFolder[] = [];

  /** Returns the folder of a task. @throws the system's error */
  of(task: string): string {
    let folder = this.#used.get(task);
    if (!folder) {
      folder = this.#free.pop() ?? this.#make();
      this.#used.set(task, folder);
    }
    return folder.path;
  }

  #make(): EmptyFolder {
    const path = adoptedFolder() ?? makeTemporaryFolder();
    return { path, state: readState(path) };
  }

  /** Called when no process of the task is left, and it will not use the path again. */
  release(task: string): void {
    const folder = this.#used.get(task);
    if (!folder || readState(folder.path) !== folder.state) return;
    this.#used.delete(task);
    this.#free.push(folder);
  }

  /** Removes the folders. */
  remove(): void {
    for (const { path } of [...this.#used.values(), ...this.#free]) removeTemporaryFolder(path);
  }
}

/**
 * Returns a text that differs for a folder that is not empty, or has been changed; "" if it cannot be read. The time of the last
 * change does not suffice, because it is coarse.
 */
function readState(path: string): string {
  const { lstatSync, readdirSync } = process.getBuiltinModule("node:fs");
  try {
    const { ino, mode, uid, gid, ctimeNs } = lstatSync(path, { bigint: true });
    return [ino, mode, uid, gid, ctimeNs, ...readdirSync(path)].join("/");
  } catch {
    return "";
  }
}
