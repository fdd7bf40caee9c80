// Tests that docs/reference/tools.md has each tool with permissions, and that it works with few lines. `npm run tools` tries them.
import { expect, test } from "bun:test";
import { readPage } from "../docs/samples.ts";
import { PERMITTED_PROJECTS } from "./permitted-projects.ts";

/** The lines of a table in rtfig.toml, with its head. */
const MAX_LINES = 5;

test("docs/reference/tools.md has each tool with permissions, which works with a short table", async () => {
  const page = await readPage("docs/reference/tools.md");
  const [table] = /^\| Tool with permissions +\|[\s\S]*?(?=\n\n)/m.exec(page)!;
  const rows = table.split("\n").slice(2);
  const cells = rows.map((row) => row.split("|").map((cell) => cell.trim()));
  expect(cells.map(([, tool]) => tool)).toEqual(PERMITTED_PROJECTS.map(({ tool }) => tool));
  const failing = cells.filter(
    ([, , , byDefault, lines]) =>
      byDefault !== "works" || lines === "fails" || lines!.split("<br>").length >= MAX_LINES,
  );
  expect(failing).toEqual([]);
});
