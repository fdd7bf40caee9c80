// Detects program formats that are registered in the kernel in addition to its own (binfmt_misc).
import { listDirectoryNames } from "../../files/path-state.ts";

/** The kernel starts their interpreters without a traced call. */
export function hasForeignFormats(): boolean {
  return (listDirectoryNames("/proc/sys/fs/binfmt_misc") ?? []).some(
    (name) => !["fregister", "fstatus"].includes(name),
  );
}
