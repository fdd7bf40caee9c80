// docs/caching.md has, of each tool, the line that it is tried with. The trials themselves are `npm run tools`.
import { expect, test } from "bun:test";
import { readPage } from "../docs/samples.ts";
import { CACHED_PROJECTS } from "./cached-projects.ts";

test.each(CACHED_PROJECTS)("docs/caching.md says what is needed by $tool", async ({ tool, rule }) => {
  const page = await readPage("docs/caching.md");
  const [, needs] = new RegExp(`^\\| ${RegExp.escape(tool)} +\\| \\S+ +\\| (.*?) +\\|`, "m").exec(page) ?? [];
  expect(needs).toBe(rule === "true" ? "`true`" : "its line below");
  if (rule !== "true") expect(page).toContain(`" = ${rule}\n`);
});
