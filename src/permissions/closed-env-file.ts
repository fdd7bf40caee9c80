// Decides which env files a task with permissions cannot read: those of other packages. ../../platform/native/linux/sandbox/ruleset.h
// enforces it.

/**
 * `.env`, `.env.local` and so on, and the files of direnv and Wrangler; examples have no secrets. Files in a folder of such a name
 * are closed too.
 */
const ENV_NAME =
  /\/\.(?:env|envrc|dev\.vars)(?:\.(?!(?:example|sample|template|defaults|schema)(?:\/|$))[^/]+)?(?=\/|$)/g;

/** @param folders of other packages */
export function isClosedEnvFile(path: string, folders: readonly string[]): boolean {
  return path.matchAll(ENV_NAME).some(({ index }) => folders.includes(path.slice(0, index)));
}
