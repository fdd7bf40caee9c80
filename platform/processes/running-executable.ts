// The file that this process is made of, for reading: an upgrade may have put another version at process.execPath by now,
// which only Linux lets a process look behind.

export const OWN_PROGRAM = process.platform === "linux" ? "/proc/self/exe" : process.execPath;

/** The systems that there is an rt for, as `process.platform` names them. */
export type System = "linux" | "darwin" | "win32";

export const OWN_SYSTEM = process.platform as System;
