// Reads `[project] id` of an rtfig.toml: the identifier that age files are bound to.
import { UserError } from "../user-error.ts";
import { lineOf } from "./toml-line.ts";
import type { Config } from "./rtfig.ts";

const ID = /^[A-Za-z0-9][\w.@/-]{7,127}$/;

/** Returns undefined if there is no identifier. @throws UserError for an invalid one */
export function projectIdIn({ content, text, file }: Config): string | undefined {
  const id = content.project?.id;
  if (id === undefined || ID.test(id)) return id;
  throw new UserError(
    `${file}:${lineOf(text, ["project", "id"])}: project.id needs 8 to 128 letters, digits and . _ @ / -`,
    `rt secrets share bind writes one into a file that has none`,
  );
}
