// Recognizes the paths of a run's own report files, so that --watch does not treat them as changes.
//
// Invariants: every spelling of a --report path and every symlink to it is recognized, and the temporary name
// during the write.
const TEMPORARY_SUFFIX = /\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

export function temporaryNameOf(file: string): string {
  return `${file}.${crypto.randomUUID()}.tmp`;
}

/** @param reports as given to --report. The returned function takes absolute paths. */
export function recognizeReports(reports: readonly string[], cwd: string): (path: string) => boolean {
  if (reports.length === 0) return () => false;
  const { resolve } = process.getBuiltinModule("node:path");
  const targets = reports.map((report) => resolve(cwd, report));
  return (path) => {
    const file = path.replace(TEMPORARY_SUFFIX, "");
    if (targets.includes(file)) return true;
    // Symlinks may have changed since the last run, so they are resolved for every path.
    const name = withRealFolder(file);
    return targets.some((target) => (realPath(target) ?? withRealFolder(target)) === name);
  };
}

/** Resolves the directory; the file itself may not exist. */
function withRealFolder(file: string): string {
  const { basename, dirname, join } = process.getBuiltinModule("node:path");
  const folder = realPath(dirname(file));
  return folder === undefined ? file : join(folder, basename(file));
}

function realPath(path: string): string | undefined {
  try {
    return process.getBuiltinModule("node:fs").realpathSync(path);
  } catch {
    return undefined;
  }
}
