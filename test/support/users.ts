// A user other than the current one, for tests of file permissions: root may read and write every file.

export const NOBODY = 65534;

export const isRoot = process.getuid?.() === 0;

/** Command prefix that runs a program as an unprivileged user; empty when the tests already run as one. */
export const AS_OTHER: readonly string[] = isRoot
  ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"]
  : [];
