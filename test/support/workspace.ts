// A workspace for a test: package.json at the top, and a package in packages/ for each name.
import type { Files } from "./project.ts";

/** @param root what the top's package.json has besides, or instead */
export function workspace(packages: Record<string, object>, root: object = {}): Files {
  const files: Files = { "package.json": { name: "root", workspaces: ["packages/*"], ...root } };
  for (const [name, manifest] of Object.entries(packages))
    files[`packages/${name}/package.json`] = { name, ...manifest };
  return files;
}

/** A package's manifest with one script, `t`. */
export const scripts = (t: string) => ({ scripts: { t } });
