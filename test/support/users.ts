// A user other than the current one, for tests of file permissions: root may read and write every file.

export const OTHER_USER_ID = 65534;

export const isRoot = process.getuid?.() === 0;

/** Command prefix that runs a program as an unprivileged user; empty when the tests already run as one. */
export const AS_OTHER_USER: readonly string[] = isRoot
  ? ["setpriv", `--reuid=${OTHER_USER_ID}`, `--regid=${OTHER_USER_ID}`, "--clear-groups"]
  : [];
