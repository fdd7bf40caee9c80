// Which rtfig.toml says what scripts get: that of the root project, and no other.
//
// Contract: the root project is the workspace that the package is a member of, or the package itself where there is none, or
// the working directory where there is no package. Nothing counts of
//   a member's own rtfig.toml, which one package would speak for itself with,
//   a dependency's: a package below a node_modules has no mapping at all, whoever's it is,
//   a folder above that only happens to be there: it has to declare the package as its member,
//   a folder above that is another user's: who may write to /tmp must not make every project below it ask.
// A file that --config names takes the place of the root project's.
//
// Surprising: node:fs and node:path are asked for where they are needed. A package in the working directory, which is most of
// them, needs neither, and loading them takes as long as all else here.
import { FILE_NAME } from "../../config/config-file-name.ts";
import { projectIdIn } from "../../config/project-id.ts";
import { findRoot } from "../../config/root-project.ts";
import { type Config, readConfig } from "../../config/rtfig.ts";
import { files } from "../../../platform/files/files.ts";
import { realPath } from "../../../platform/files/real-path.ts";
import { printable } from "../../printable.ts";
import { type Mapping, readMapping, type RegistryGrant } from "./mapping.ts";
import { tell } from "../trust/yes-no-prompt.ts";

/**
 * Undefined where nothing speaks of secrets. Throws Failure, PackageJsonError.
 * @param from the working directory, or that of the package whose script is started; absolute
 * @param config what was read of the working directory's rtfig.toml, or of the file that --config names
 */
export function findMapping(from: string, config: Config | undefined): Mapping | undefined {
  if (config && config.file !== FILE_NAME) {
    const root = findRoot(from) ?? from;
    const folder = path().dirname(realPath(path().resolve(config.file)));
    const hasFiles = config.text.includes("age:"); // the other rtfig.toml may be one that cannot be read
    const project = projectIdIn(config) ?? (hasFiles ? idOf(readRootConfig(root)) : undefined);
    const mapping = openMapping(config, folder, project);
    return mapping && { ...mapping, named: config.file, registries: registriesOf(mapping, [config], root) };
  }
  const root = findRoot(from);
  const cwd = realPath(process.cwd());
  if (config && root !== cwd && speaksOfSecrets(config))
    tell([
      `warning: what ${printable(path().join(cwd, FILE_NAME))} says of secrets counts for nothing: ${explain(root)}`,
    ]);
  if (root === undefined) return undefined;
  const read = config && root === cwd ? config : readRootConfig(root);
  const mapping = read && openMapping(read, root);
  return mapping && { ...mapping, registries: registriesOf(mapping, [read, config], root) };
}

function readRootConfig(root: string): Config | undefined {
  const file = path().join(root, FILE_NAME);
  return files.readFile(file, 1) === "ENOENT" ? undefined : readConfig(file);
}

/**
 * @param configs whichever of them the engine goes by: in a member's folder that is the one there, or none
 * @param root whose `.npmrc` the engine reads, wherever in the workspace it is started
 */
function registriesOf(
  { secrets }: Mapping,
  configs: readonly (Config | undefined)[],
  root: string,
): NonNullable<Mapping["registries"]> {
  const contents = new Set(configs.map((each) => each?.content ?? {}));
  let found: readonly RegistryGrant[] | undefined;
  const find = () => {
    const { findRegistries } =
      require("../registries/project-registries.ts") as typeof import("../registries/project-registries.ts");
    return findRegistries([...contents], root, secrets);
  };
  // Once, so that what is remembered is what was shown, whatever happens to the files during the question.
  return () => (found ??= find());
}

function path(): typeof import("node:path") {
  return process.getBuiltinModule("node:path");
}

function explain(root: string | undefined): string {
  return root === undefined ? "it is a dependency's" : `the root project is in ${printable(root)}`;
}

function openMapping(config: Config, folder: string, project?: string): Mapping | undefined {
  return speaksOfSecrets(config) ? readMapping(config, folder, project) : undefined;
}

function idOf(config: Config | undefined): string | undefined {
  return config && projectIdIn(config);
}

function speaksOfSecrets({ settings }: Config): boolean {
  return settings.some(({ key }) => key.isOfSecrets);
}
