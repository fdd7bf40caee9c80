// The table of variables in docs/reference/cache.md, from src/cache/key/variables.ts.
import { join } from "node:path";
import { type Treatment, VARIABLES, type VariableRow } from "../../src/cache/key/variables.ts";
import { format, renderTable, ROOT } from "./markdown.ts";

const FILE = "docs/reference/cache.md";
const BEGIN = "<!-- variables, made by build/docs.ts from src/cache/key/variables.ts: begin -->";
const END = "<!-- variables: end -->";

const TREATMENTS: Readonly<Record<Treatment, string>> = {
  input: "passed; counts",
  passed: "passed; does not count",
  fixed: "always",
  dropped: "not passed",
};

function describeTreatment({ treatment, value }: VariableRow): string {
  if (treatment !== "fixed") return TREATMENTS[treatment];
  return `${TREATMENTS.fixed} ${value === null ? "the root of the project" : `\`${value}\``}`;
}

function renderVariables(): string {
  const rows = VARIABLES.map((row) => [
    row.names.map((name) => `\`${name}\``).join(", "),
    describeTreatment(row),
    row.reason,
  ]);
  return renderTable(
    ["variables", "a cached script", "reason"],
    [...rows, ["all others", TREATMENTS.dropped, "rt cannot see whether a script reads them"]],
  );
}

export async function renderCacheReference(): Promise<string> {
  const text = await Bun.file(join(ROOT, FILE)).text();
  const begin = text.indexOf(BEGIN) + BEGIN.length;
  const end = text.indexOf(END);
  if (begin < BEGIN.length || end < begin) throw new Error(`${FILE} has lost the marks around its table`);
  return format(`${text.slice(0, begin)}\n\n${renderVariables()}\n\n${text.slice(end)}`, FILE);
}
