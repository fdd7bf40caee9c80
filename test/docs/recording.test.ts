// Tests that the recording in README.md shows the output of the current dist/rt.
import { expect, test } from "bun:test";
import { record } from "../../build/docs/terminal-recording.ts";
import { drawRecording } from "../../build/docs/terminal-svg.ts";
import { readPage } from "./samples.ts";

test.skipIf(process.platform !== "linux")(
  "docs/recording.svg is what `bun build/docs/terminal-recording.ts` draws",
  async () => {
    expect(await record()).toBe(await readPage("docs/recording.svg"));
  },
);

test("docs/recording.svg is small, loads no other resource, and describes its content", async () => {
  const picture = await readPage("docs/recording.svg");
  expect(picture.length).toBeLessThan(10_000);
  expect(picture).not.toMatch(/<script|<image|<foreignObject|@import|url\(|\bhref/);
  expect(picture.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toContain("http");
  const described = /<desc[^>]*>(.*?)<\/desc>/s.exec(picture)![1]!;
  for (const [, text] of picture.matchAll(/<tspan class="b">([^<]+)/g)) expect(described).toContain(text!);
  expect(picture).toContain("prefers-color-scheme:dark");
  expect(picture).toContain("prefers-reduced-motion");
});

test("a recording shows colours, and drawing throws when the output moves the cursor", () => {
  const draw = (output: string) =>
    drawRecording({ title: "t", columns: 10, shown: [{ command: "x", output }] });
  expect(draw("\x1b[1;32mgo\x1b[0m <&>\r\n")).toContain('<tspan class="b c2">go</tspan> &lt;&amp;&gt;');
  expect(() => draw("\x1b[2Kgone")).toThrow("A picture cannot show");
});
