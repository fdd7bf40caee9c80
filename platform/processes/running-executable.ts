// Returns the file of this process for reading. An upgrade may have replaced process.execPath; only Linux provides the original.

export const OWN_PROGRAM = process.platform === "linux" ? "/proc/self/exe" : process.execPath;

/** Supported operating systems, as in `process.platform`. */
export type System = "linux" | "darwin" | "win32";

export const OWN_SYSTEM = process.platform as System;
