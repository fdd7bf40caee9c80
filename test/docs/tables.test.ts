// Tests that pages agree with the tables in the source.
import { Glob } from "bun";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { GENERATED } from "../../build/docs.ts";
import { HEADLINES } from "../../build/docs/benchmark-table.ts";
import { MAC_BYTES, TEXT_LENGTH } from "../../src/csrf/token.ts";
import { SECRETS_FAILURES } from "../../src/errors.ts";
import { REPOSITORY } from "../support/rt.ts";
import { readPage } from "./samples.ts";

test.each(GENERATED)("$file is what `bun build/docs.ts` writes", async ({ file, render }) => {
  expect(await Bun.file(join(REPOSITORY, file)).text()).toBe(await render());
});

test.each(HEADLINES)("README.md has a figure for: %s", async (headline) => {
  const results = join(REPOSITORY, "bench", "results");
  const pages = await Array.fromAsync(new Glob("*.md").scan(results), (file) =>
    Bun.file(join(results, file)).text(),
  );
  expect(pages.join("\n")).toContain(`\n| ${headline} `);
});

test("docs/guides/csrf.md names every algorithm and encoding", async () => {
  const page = await readPage("docs/guides/csrf.md");
  for (const name of [...Object.keys(MAC_BYTES), ...Object.keys(TEXT_LENGTH)])
    expect(page).toContain(`\`"${name}"\``);
});

test("docs/reference/secrets.md has the meaning of each error code from the source's table", async () => {
  const page = await readPage("docs/reference/secrets.md");
  const rows = [...page.matchAll(/^\| `ERR_SECRETS_(\w+)` +\| (.*?) +\|$/gm)].map(([, code, text]) => [
    code,
    text,
  ]);
  expect(rows).toEqual(Object.entries(SECRETS_FAILURES).map(([code, { meaning }]) => [code, meaning]));
});
