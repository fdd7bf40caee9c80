// Packages and workspaces for tests.
import type { Files } from "./project.ts";

/** A package with these scripts. @param more what its package.json has besides, or instead */
export function packageWith(scripts: Readonly<Record<string, unknown>>, more: object = {}) {
  return { "package.json": { name: "project", version: "1.2.3", scripts, ...more } };
}

/**
 * A package.json at the top, and a package in packages/ for each name.
 *
 * @param root what the top's package.json has besides, or instead
 */
export function workspace(packages: Record<string, object>, root: object = {}): Files {
  const files: Files = { "package.json": { name: "root", workspaces: ["packages/*"], ...root } };
  for (const [name, manifest] of Object.entries(packages))
    files[`packages/${name}/package.json`] = { name, ...manifest };
  return files;
}

/** A package's manifest with one script, `t`. */
export const scripts = (t: string) => ({ scripts: { t } });
