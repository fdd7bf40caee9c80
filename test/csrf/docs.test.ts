// Every sample of docs/csrf.md runs in the compiled program and prints what the page says.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { MAC_BYTES, TEXT_LENGTH } from "../../src/csrf/token.ts";
import { expectRt, REPOSITORY } from "../support/rt.ts";

const page = await Bun.file(join(REPOSITORY, "docs", "csrf.md")).text();
const samples = [...page.matchAll(/```ts\n(.*?)```\s+```text\n(.*?)```/gs)].map(
  ([, code, output], index) => ({
    name: `sample ${index + 1}`,
    code: code!,
    output: output!,
  }),
);

test.each(samples)("docs/csrf.md: $name prints what it says", async ({ code, output }) => {
  await expectRt({ files: { "sample.ts": code }, args: ["sample.ts"], stdout: output });
});

test("docs/csrf.md: every sample has its output", () => {
  expect(page.match(/```ts\n/g)).toHaveLength(samples.length);
});

test("docs/csrf.md names every algorithm and encoding", () => {
  for (const name of [...Object.keys(MAC_BYTES), ...Object.keys(TEXT_LENGTH)])
    expect(page).toContain(`\`"${name}"\``);
});
