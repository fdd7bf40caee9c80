// Packages and workspaces for tests.
import type { Files } from "./project.ts";

/** Returns a package with these scripts. @param more additional or different fields of its package.json */
export function packageWith(scripts: Readonly<Record<string, unknown>>, more: object = {}) {
  return { "package.json": { name: "project", version: "1.2.3", scripts, ...more } };
}

/**
 * Returns a package.json at the root, and a package in packages/ for each name.
 *
 * @param root additional or different fields of the root's package.json
 */
export function workspace(packages: Record<string, object>, root: object = {}): Files {
  const files: Files = { "package.json": { name: "root", workspaces: ["packages/*"], ...root } };
  for (const [name, manifest] of Object.entries(packages))
    files[`packages/${name}/package.json`] = { name, ...manifest };
  return files;
}

/** Returns a manifest with one script, `t`. */
export const scripts = (t: string) => ({ scripts: { t } });
