// Generates TypeScript declarations of the project's secrets for `rt types`, so that editors complete the variables.
import { readOwnConfig } from "../../config/rtfig.ts";
import { printable } from "../../printable.ts";
import { findMapping } from "./mapping-file.ts";

/** Returns the text of a declaration file, "" if the project has no secrets. @throws UserError, PackageJsonError */
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
    "/** The secrets of rtfig.toml. A script has those that [run.secrets] grants. */",
    "declare namespace NodeJS {",
    "  interface ProcessEnv {",
    ...members,
    "  }",
    "}",
  ].join("\n");
}
