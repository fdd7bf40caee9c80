// Tests that docs/reference/cache.md has the row of each tool in cached-projects.ts. `npm run tools` runs the tools.
import { expect, test } from "bun:test";
import { readPage } from "../docs/samples.ts";
import { CACHED_PROJECTS } from "./cached-projects.ts";

test.each(CACHED_PROJECTS)(
  "docs/reference/cache.md has the row of $tool in [tasks]",
  async ({ tool, row }) => {
    const page = await readPage("docs/reference/cache.md");
    const [, needs] =
      new RegExp(`^\\| ${RegExp.escape(tool)} +\\| \\S+ +\\| (.*?) +\\|`, "m").exec(page) ?? [];
    expect(needs).toBe(row.length === 0 ? "`cache = true`" : "its row below");
    expect(page).toContain(["cache = true", ...row, ""].join("\n"));
  },
);
