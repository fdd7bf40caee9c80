// Installing with a configuration: a registry of the test's own, a project with rtfig.toml, and what came of it.
import { existsSync } from "node:fs";
import { openRegistry, type PublishedPackage, type Registry } from "../options/registry.ts";
import { allowAll } from "../support/trusted.ts";
import { createProject, type Files, type Project } from "../support/project.ts";
import { type RtResult, runRt } from "../support/rt.ts";

export const pack = (
  name: string,
  version = "1.0.0",
  more: Partial<PublishedPackage> = {},
): PublishedPackage => ({
  name,
  version,
  files: { "index.js": `module.exports = "${name} ${version}"` },
  ...more,
});

export interface Installed extends RtResult {
  project: Project;
  registry: Registry;
  has(path: string): boolean;
}

export interface Situation {
  packages?: readonly PublishedPackage[];
  dependencies?: Record<string, unknown>;
  files?: Files;
  args?: readonly string[];
  /** Leaves the registry to the configuration, where `$REGISTRY` stands for its address. */
  isConfigured?: boolean;
  env?: Record<string, string>;
}

/** `rt install` with this configuration; `use` looks at the result while the project is there. */
export async function install(
  config: string,
  situation: Situation,
  use: (result: Installed) => unknown,
): Promise<void> {
  const { packages = [pack("dep")], dependencies = { dependencies: { dep: "1.0.0" } } } = situation;
  await using registry = await openRegistry(packages);
  await using project = await createProject({
    "package.json": { name: "app", ...dependencies },
    "rtfig.toml": config.replaceAll("$REGISTRY", registry.url).replaceAll("$CACHE", registry.cache),
    ...situation.files,
  });
  const { BUN_CONFIG_REGISTRY: address, ...rest } = registry.env;
  const env = {
    ...(situation.isConfigured ? rest : { ...rest, BUN_CONFIG_REGISTRY: address }),
    ...(config.includes('"$') && (await allowAll(project.path))),
    ...situation.env,
  };
  const result = await runRt({ args: situation.args ?? ["install"], cwd: project.path, env });
  await use({ ...result, project, registry, has: (path) => existsSync(project.join(path)) });
}

/** The file of the package that is installed unless a test says otherwise. */
export const DEP = "node_modules/dep/index.js";
