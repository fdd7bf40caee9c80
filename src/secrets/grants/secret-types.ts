// The names of a project's secrets for TypeScript, behind what `rt types` prints: so that an editor completes them.
import { readOwnConfig } from "../../config/rtfig.ts";
import { printable } from "../../printable.ts";
import { findMapping } from "./mapping-file.ts";

/** Text of a declaration file; "" where the project has none. Throws Failure, PackageJsonError. */
export function declareSecrets(): string {
  const secrets = findMapping(process.cwd(), readOwnConfig())?.secrets;
  if (!secrets || secrets.size === 0) return "";
  const members = [...secrets.values()].flatMap(({ name, about }) => [
    ...(about === undefined ? [] : [`    /** ${printable(about).replaceAll("*/", "*\\/")} */`]),
    `    ${name}?: string;`,
  ]);
  return [
    "",
    "",
    "/** The secrets of rtfig.toml. A script has those that it is named for. */",
    "declare namespace NodeJS {",
    "  interface ProcessEnv {",
    ...members,
    "  }",
    "}",
  ].join("\n");
}
