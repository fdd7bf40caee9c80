// Finds the rtfig.toml whose [secrets] and [run.secrets] apply: that of the root project, or the file of --config. The root is
// the workspace that has the package as a member, else the package, else the working directory.
//
// Invariants:
// - Ignored: a member's own rtfig.toml, and any package below node_modules.
// - Ignored too: a parent folder that does not declare the package as a member, or that another user owns. Otherwise anyone who
//   can write to /tmp could make the projects below it show prompts.
//
// Non-obvious:
// - node:fs and node:path are loaded lazily: a package in the working directory needs neither, and they cost as much as the rest.
import { FILE_NAME } from "../../config/config-file-name.ts";
import { projectIdIn } from "../../config/project-id.ts";
import { findRoot } from "../../config/root-project.ts";
import { type Config, readConfig } from "../../config/rtfig.ts";
import { files } from "../../../platform/files/files.ts";
import { realPath } from "../../../platform/files/real-path.ts";
import { printable } from "../../printable.ts";
import { type Mapping, readMapping, type RegistryGrant } from "./mapping.ts";
import { printLines } from "../trust/yes-no-prompt.ts";

/**
 * Returns undefined if no secrets are configured. Warns about secrets in a file that is ignored.
 * @param from absolute path of the working directory, or of the package whose script is started
 * @param config the rtfig.toml of the working directory, or the file of --config
 * @throws UserError, PackageJsonError
 */
export function findMapping(from: string, config: Config | undefined): Mapping | undefined {
  if (config && config.file !== FILE_NAME) {
    const root = findRoot(from) ?? from;
    const folder = path().dirname(realPath(path().resolve(config.file)));
    const mayUseAge = config.text.includes("age:"); // else the root's rtfig.toml is not read: it may be invalid
    const project = projectIdIn(config) ?? (mayUseAge ? idOf(readRootConfig(root)) : undefined);
    const mapping = openMapping(config, folder, project);
    return mapping && { ...mapping, named: config.file, registries: registriesOf(mapping, [config], root) };
  }
  const root = findRoot(from);
  const cwd = realPath(process.cwd());
  if (config && root !== cwd && hasSecretSettings(config))
    printLines([
      `warning: secrets in ${printable(path().join(cwd, FILE_NAME))} are ignored: ${ignoreReason(root)}`,
    ]);
  if (root === undefined) return undefined;
  const rootConfig = config && root === cwd ? config : readRootConfig(root);
  const mapping = rootConfig && openMapping(rootConfig, root);
  return mapping && { ...mapping, registries: registriesOf(mapping, [rootConfig, config], root) };
}

function readRootConfig(root: string): Config | undefined {
  const file = path().join(root, FILE_NAME);
  return files.readFile(file, 1) === "ENOENT" ? undefined : readConfig(file);
}

/**
 * @param configs candidates for the file that the engine reads: in a member's folder the file there, or none
 * @param root folder of the `.npmrc` that the engine reads, wherever in the workspace it is started
 */
function registriesOf(
  { secrets }: Mapping,
  configs: readonly (Config | undefined)[],
  root: string,
): NonNullable<Mapping["registries"]> {
  const contents = new Set(configs.map((each) => each?.content ?? {}));
  let registries: readonly RegistryGrant[] | undefined;
  const find = () => {
    const { findRegistries } =
      require("../registries/project-registries.ts") as typeof import("../registries/project-registries.ts");
    return findRegistries([...contents], root, secrets);
  };
  // Memoized, so that the stored trust record equals what the prompt showed, even if a file changes during the prompt (TOCTOU).
  return () => (registries ??= find());
}

function path(): typeof import("node:path") {
  return process.getBuiltinModule("node:path");
}

function ignoreReason(root: string | undefined): string {
  return root === undefined ? "the folder is a dependency" : `the root project is in ${printable(root)}`;
}

function openMapping(config: Config, folder: string, project?: string): Mapping | undefined {
  return hasSecretSettings(config) ? readMapping(config, folder, project) : undefined;
}

function idOf(config: Config | undefined): string | undefined {
  return config && projectIdIn(config);
}

function hasSecretSettings({ settings }: Config): boolean {
  return settings.some(({ key }) => key.isOfSecrets);
}
