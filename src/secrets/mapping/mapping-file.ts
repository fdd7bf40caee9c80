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
import { FILE_NAME } from "../../config/file.ts";
import { findRoot } from "../../config/root-project.ts";
import { type Config, readConfig } from "../../config/rtfig.ts";
import { files } from "../../../platform/files.ts";
import { realPath } from "../../../platform/real-path.ts";
import { printable } from "../../printable.ts";
import { type Mapping, readMapping } from "./mapping.ts";
import { tell } from "./question.ts";

/**
 * Undefined where nothing speaks of secrets. Throws Failure, PackageJsonError.
 * @param from the working directory, or that of the package whose script is started; absolute
 * @param config what was read of the working directory's rtfig.toml, or of the file that --config names
 */
export function findMapping(from: string, config: Config | undefined): Mapping | undefined {
  if (config && config.file !== FILE_NAME) {
    const mapping = openMapping(config, path().dirname(realPath(path().resolve(config.file))));
    return mapping && { ...mapping, named: config.file };
  }
  const root = findRoot(from);
  const cwd = realPath(process.cwd());
  if (config && root !== cwd && speaksOfSecrets(config))
    tell([
      `warning: what ${printable(path().join(cwd, FILE_NAME))} says of secrets counts for nothing: ${explain(root)}`,
    ]);
  if (root === undefined) return undefined;
  if (config && root === cwd) return openMapping(config, root);
  const file = path().join(root, FILE_NAME);
  if (files.readFile(file, 1) === "ENOENT") return undefined;
  return openMapping(readConfig(file), root);
}

function path(): typeof import("node:path") {
  return process.getBuiltinModule("node:path");
}

function explain(root: string | undefined): string {
  return root === undefined ? "it is a dependency's" : `the root project is in ${printable(root)}`;
}

function openMapping(config: Config, folder: string): Mapping | undefined {
  return speaksOfSecrets(config) ? readMapping(config, folder) : undefined;
}

function speaksOfSecrets({ settings }: Config): boolean {
  return settings.some(({ key }) => key.isOfSecrets);
}
