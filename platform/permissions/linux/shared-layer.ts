// Opens the layer that closes files of the system to all tasks of this process (../../native/linux/sandbox/shared-layer.h).
//
// Non-obvious: the first task closes these files by its own rules. A layer for one task would take as long.
import { ptr } from "../../native/posix/ffi.ts";
import { recorderLibrary } from "../../native/linux/library.ts";
import { encodeCString } from "../../native/posix/libc.ts";
import type { PermissionRules } from "../contract/permissions.ts";

/** `struct shared_layer`: the state of folders, and the descriptor. Native code keeps it up to date. */
const layer = new BigInt64Array(new ArrayBuffer(16));
layer[1] = -1n;

/** Returns a descriptor that stays open; undefined for the first task, and without such files. @throws the system's error */
export function openSharedLayer({
  hidden,
  isFirst,
}: Pick<PermissionRules, "hidden" | "isFirst">): number | undefined {
  if (hidden.length === 0 || isFirst) return undefined;
  const paths = encodeCString(hidden.join("\0"));
  const descriptor = recorderLibrary().open_shared_layer(ptr(layer), ptr(paths), paths.length);
  if (descriptor < 0) throw new Error(`the layer of system files cannot be created (errno ${-descriptor})`);
  return descriptor;
}
