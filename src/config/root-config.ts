// Finds the rtfig.toml whose [tasks] and [run.cache] apply: the file of --config, or the root project's.
//
// Invariants: a member's own file does not count, as with secrets. A warning names its tables that are ignored.
import { files } from "../../platform/files/files.ts";
import { reportLine } from "../output.ts";
import { printable } from "../printable.ts";
import { realPath } from "../../platform/files/real-path.ts";
import { FILE_NAME } from "./config-file-name.ts";
import { findRoot } from "./root-project.ts";
import { type Config, readConfig } from "./rtfig.ts";

/** @param config the file of the working directory, or of --config @throws UserError */
export function findRootConfig(
  config: Config | undefined,
  cwd: string,
  report = reportLine,
): Config | undefined {
  if (config && config.file !== FILE_NAME) return config;
  const root = findRootOrNone(cwd);
  if (root === undefined) return undefined;
  if (root === realPath(cwd)) return config;
  const { join } = process.getBuiltinModule("node:path");
  const file = join(root, FILE_NAME);
  for (const section of config ? tablesOfRoot(config) : []) {
    const [own, other] = [join(cwd, FILE_NAME), file].map(printable);
    report(`warning: [${section}] of ${own} is ignored: the root project's is ${other}`);
  }
  return files.readFile(file, 1) === "ENOENT" ? undefined : readConfig(file);
}

/** Running a script reports errors of package.json. */
function findRootOrNone(cwd: string): string | undefined {
  try {
    return findRoot(cwd);
  } catch {
    return undefined;
  }
}

function tablesOfRoot({ content }: Config): string[] {
  const tables = (["tasks", "permissions"] as const).filter((name) => content[name] !== undefined);
  return content.run?.cache ? [...tables, "run.cache"] : tables;
}
