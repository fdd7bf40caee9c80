// Every sample of docs/csrf.md runs in the compiled program and prints what the page says.
import { expect, test } from "bun:test";
import { MAC_BYTES, TEXT_LENGTH } from "../../src/csrf/token.ts";
import { expectRt } from "../support/rt.ts";
import { findSamples, readPage } from "./samples.ts";

const page = await readPage("csrf.md");

test.each(findSamples(page, "ts"))("docs/csrf.md: $title prints what it says", async ({ code, output }) => {
  await expectRt({ files: { "sample.ts": code }, args: ["sample.ts"], stdout: output });
});

test("docs/csrf.md names every algorithm and encoding", () => {
  for (const name of [...Object.keys(MAC_BYTES), ...Object.keys(TEXT_LENGTH)])
    expect(page).toContain(`\`"${name}"\``);
});
