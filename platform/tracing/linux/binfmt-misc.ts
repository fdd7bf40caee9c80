// Formats of programs that the kernel was told of besides its own.
import { listDirectoryNames } from "../../files/path-state.ts";

/** Programs of these the kernel would start by others, unseen. */
export function hasForeignFormats(): boolean {
  return (listDirectoryNames("/proc/sys/fs/binfmt_misc") ?? []).some(
    (name) => !["fregister", "fstatus"].includes(name),
  );
}
