// Finds what builds of native modules need without network: node-gyp of npm, and the headers of Node.js.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findRealPath } from "../../../platform/files/real-path.ts";
import { findOnPath } from "../../../platform/processes/program-search.ts";
import { quoteArgument } from "../../shell-quoting.ts";

const GYP = "node_modules/node-gyp/bin/node-gyp.js";
/** The installer's own node-gyp downloads the package at each call. */
const FETCHED_GYP = /\/\.[\da-f]+-\d+\.node-gyp$/;

export interface NativeBuild {
  readonly path: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * @param path PATH of the script
 * @param temporary gets a program called node-gyp, after the folders of PATH
 */
export function prepareNativeBuild(path: string, temporary: string): NativeBuild {
  const folders = path.split(":").filter((folder) => !FETCHED_GYP.test(folder));
  const PATH = folders.join(":");
  const find = (name: string) => {
    const found = findOnPath(name, { PATH });
    return found === null ? undefined : findRealPath(found);
  };
  const node = find("node");
  const prefix = node && dirname(dirname(node));
  const headers = prefix !== undefined && existsSync(join(prefix, "include/node/node_version.h"));
  const npm = find("npm");
  const gyp = [
    npm && join(dirname(npm), "..", GYP),
    prefix && join(prefix, "lib/node_modules/npm", GYP),
  ].find((place) => place !== undefined && place !== "" && existsSync(place));
  if (gyp) {
    mkdirSync(join(temporary, "bin"), { recursive: true });
    const line = `exec node ${quoteArgument(gyp)} "$@"`;
    writeFileSync(join(temporary, "bin/node-gyp"), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    folders.push(join(temporary, "bin"));
  }
  return {
    path: folders.join(":"),
    variables: { ...(headers && { npm_config_nodedir: prefix }), ...(gyp && { npm_config_node_gyp: gyp }) },
  };
}
