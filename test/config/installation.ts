// Runs `rt install` with a configuration, against a registry of the test.
import { existsSync } from "node:fs";
import { openRegistry, type PublishedPackage, type Registry } from "../options/registry.ts";
import { trustAll } from "../support/trusted.ts";
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
  /** Takes the registry from the configuration, where `$REGISTRY` is replaced by its address. */
  isConfigured?: boolean;
  env?: Record<string, string>;
}

/** Runs `rt install` with this configuration; `use` checks the result before the project is removed. */
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
    ...(config.includes('"$') && (await trustAll(project.path))),
    ...situation.env,
  };
  const result = await runRt({ args: situation.args ?? ["install"], cwd: project.path, env });
  await use({ ...result, project, registry, has: (path) => existsSync(project.join(path)) });
}

/** The file of the package that most tests install. */
export const DEP = "node_modules/dep/index.js";
