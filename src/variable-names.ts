// Matches the names of environment variables.

/** @param names names, or beginnings before a `*` at the end */
export function isNamed(name: string, names: readonly string[]): boolean {
  return names.some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : name === each));
}
