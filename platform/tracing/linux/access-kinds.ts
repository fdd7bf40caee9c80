// What calls do with paths: one list, for the table of calls, the recorder and the observation.

/** What a call does with a path. In the order of `enum access` of ../native/recorder/sight.h. */
export const ACCESSES = [
  "probe",
  /** Its contents, through a descriptor. */
  "read",
  "list",
  "run",
  /** Whatever was there is gone. */
  "replace",
  /** The same, where there is something. */
  "truncate",
  /** Only where there is nothing. */
  "create",
  "remove",
  /** What is there stays a part of it. */
  "modify",
  /** The same, or it is made. */
  "append",
] as const;

export type PathAccess = (typeof ACCESSES)[number];
