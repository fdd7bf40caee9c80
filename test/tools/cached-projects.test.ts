// Tests that docs/guides/caching.md has the rule of each tool in cached-projects.ts. `npm run tools` runs the tools.
import { expect, test } from "bun:test";
import { readPage } from "../docs/samples.ts";
import { CACHED_PROJECTS } from "./cached-projects.ts";

test.each(CACHED_PROJECTS)(
  "docs/guides/caching.md has the [run.cache] rule of $tool",
  async ({ tool, rule }) => {
    const page = await readPage("docs/guides/caching.md");
    const [, needs] =
      new RegExp(`^\\| ${RegExp.escape(tool)} +\\| \\S+ +\\| (.*?) +\\|`, "m").exec(page) ?? [];
    expect(needs).toBe(rule === "true" ? "`true`" : "its line below");
    if (rule !== "true") expect(page).toContain(`" = ${rule}\n`);
  },
);
