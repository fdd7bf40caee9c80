// The kinds of access of a system call to a path, shared by the syscall table, the recorder and the trace builder.

/** In the order of `enum access` of ../../native/linux/recorder/path-table.h. */
export const ACCESSES = [
  "probe",
  /** Reads the content through a descriptor. */
  "read",
  "list",
  "run",
  /** Replaces the path, whether or not it exists. */
  "replace",
  /** Replaces the content if the path exists. */
  "truncate",
  /** Succeeds only if the path does not exist. */
  "create",
  "remove",
  /** Keeps a part of the content. */
  "modify",
  /** As "modify", or creates the path. */
  "append",
] as const;

export type PathAccess = (typeof ACCESSES)[number];
