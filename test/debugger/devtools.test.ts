// Chromium's own DevTools: the page that chrome://inspect opens for a program, used through its controls.
import { expect, setDefaultTimeout, test } from "bun:test";
import { startChromium } from "../support/programs/browser.ts";
import { createProject } from "../support/project.ts";
import { startDebugged } from "./chrome-client.ts";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];

setDefaultTimeout(120_000);

const SOURCE = `interface Sum {
  a: number;
}

let ticks = 0;
function add({ a }: Sum): number {
  const answer: number = a + 40;
  return answer;
}
setInterval(() => (ticks = add({ a: 2 })), 20);
console.log("running", ticks);
`;

test("DevTools evaluates in its console, shows the file, stops at a breakpoint, and records a profile", async () => {
  await using project = await createProject({ "a.ts": SOURCE });
  const { live, url } = await startDebugged(project, ["--inspect=127.0.0.1:0", "a.ts"]);
  await using _live = live;
  const browser = await startChromium(FLAGS);
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
    page.setDefaultTimeout(100_000);
    await page.goto(`devtools://devtools/bundled/js_app.html?v8only=true&ws=${url.slice("ws://".length)}`);
    await page.locator(".console-prompt-editor-container [contenteditable=true]").click();
    await page.keyboard.type("globalThis.told = 6 * 7");
    await page.keyboard.press("Enter");
    await page.locator(".console-message-text", { hasText: /^42$/ }).first().waitFor();

    await page.keyboard.press("Control+p");
    await page.keyboard.type("a.ts");
    await page.getByRole("option", { name: "a.ts" }).first().waitFor();
    await page.keyboard.press("Enter");
    // The types prove that DevTools shows the original file.
    await page.locator(".cm-line", { hasText: "const answer: number = a + 40;" }).waitFor();
    await page.locator(".cm-gutterElement", { hasText: /^7$/ }).click();
    await page
      .locator(".cm-execution-line, .cm-executionLine", { hasText: "const answer: number = a + 40;" })
      .waitFor();
    expect(await page.locator(".call-frame-item").first().innerText()).toMatch(/add\s+a\.ts:7/);
    // Remove the breakpoint first: a resumed program would pause there again, and a profile of a paused program has no end.
    await page.locator(".cm-gutterElement", { hasText: /^7$/ }).click();
    await page.locator(".cm-breakpoint").waitFor({ state: "detached" });
    await page.keyboard.press("F8");
    await page.locator(".cm-execution-line, .cm-executionLine").waitFor({ state: "detached" });

    await page.getByRole("tab", { name: "Performance" }).click();
    await page.getByRole("button", { name: "Record" }).first().click();
    await page.getByRole("button", { name: "Stop" }).first().click();
    await page.getByRole("tab", { name: "Bottom-up" }).waitFor();
  } finally {
    await browser.close();
  }
});
