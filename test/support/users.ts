// Another user than the one who runs the tests. Root may read and write everywhere, so what somebody may not do is tried by
// this one.

export const NOBODY = 65534;

export const isRoot = process.getuid?.() === 0;

/** Words in front of a command that then runs as one who may not do everything: none where that is so anyhow. */
export const AS_OTHER: readonly string[] = isRoot
  ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"]
  : [];
