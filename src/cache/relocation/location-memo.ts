// Memoizes values by the root of a project and the folders of a user.
//
// Invariants: the folders are those of userFoldersOf(), which returns the same object for the same folders.
import type { UserFolders } from "./user-folders.ts";

interface MemoKey {
  readonly root: string;
  readonly folders: UserFolders;
}

export function memoizeByLocation<Value>(create: () => Value): (key: MemoKey) => Value {
  const known = new WeakMap<UserFolders, Map<string, Value>>();
  return ({ root, folders }) => {
    let byRoot = known.get(folders);
    if (!byRoot) known.set(folders, (byRoot = new Map<string, Value>()));
    let value = byRoot.get(root);
    if (value === undefined) byRoot.set(root, (value = create()));
    return value;
  };
}
