// Which paths are those of a run's own reports, for who would take each of them for a change of the user's.
//
// Contract: whatever form --report names a file in, and whatever links lead there or to `path`; also the name that it has
// while it is written.
const DRAFT = /\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

/** One that nobody can guess. */
export function draftOf(file: string): string {
  return `${file}.${crypto.randomUUID()}.tmp`;
}

/** @param reports as --report names them. What is returned is asked for absolute paths. */
export function recognizeReports(reports: readonly string[], cwd: string): (path: string) => boolean {
  if (reports.length === 0) return () => false;
  const { resolve } = process.getBuiltinModule("node:path");
  const targets = reports.map((report) => resolve(cwd, report));
  return (path) => {
    const file = path.replace(DRAFT, "");
    if (targets.includes(file)) return true;
    // A link's target may be another one, or there at all, only since the last run.
    const name = withRealFolder(file);
    return targets.some((target) => (realPath(target) ?? withRealFolder(target)) === name);
  };
}

/** Also of a file that is not there. */
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
