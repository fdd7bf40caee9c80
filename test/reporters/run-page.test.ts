// Tests `--report=run.html` in Chromium: its content, its use with the keyboard, and that scripts' names and output
// remain text.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { findBarriers, launchBrowser, openPage } from "../support/programs/browser.ts";
import { createProject, type Project } from "../support/project.ts";
import { type Environment, runRt } from "../support/rt.ts";
import { scripts, workspace } from "../support/workspace.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

async function run(project: Project, args: readonly string[], env: Environment = {}) {
  return await runRt({ args: ["run", "--report=run.html", ...args], cwd: project.path, env });
}

const rowOf = (page: Page, label: string) =>
  page.locator("li", { has: page.locator(`summary .name`, { hasText: label }) });
const labels = (page: Page) =>
  page
    .locator("li:visible summary .name")
    .evaluateAll((names) => names.map((name) => name.firstChild!.textContent!));

const COLOURED =
  "printf '\\033[1;31mred\\033[0m \\033[38;5;208mpalette\\033[0m \\033[48;2;1;2;3mexact\\033[0m plain\\n'";
const MARKUP = "echo '</script><script>document.title = 1</script><img src=x onerror=alert(1)>'";

describe("the page of a run", () => {
  let project: Project;
  beforeAll(async () => {
    project = await createProject(
      workspace({
        core: scripts(`${COLOURED}; ${MARKUP}`),
        web: { ...scripts("echo same; echo failing >&2; exit 3"), dependencies: { core: "*" } },
        app: { ...scripts("true"), dependencies: { web: "*" } },
        alone: scripts("printf 'half\\rwhole\\n\\033]0;title\\007\\033[2Kend\\0'"),
      }),
    );
    expect((await run(project, ["--filter", "*", "t"])).status).toBe(3);
  });
  afterAll(() => project[Symbol.asyncDispose]());

  test.each(["light", "dark"] as const)(
    "shows failures first, with colours and without accessibility errors: %s",
    async (scheme) => {
      await using view = await openPage(browser, project.join("run.html"), scheme);
      const { page } = view;
      expect(await page.title()).toBe("rt run --filter '*' t");
      expect(await page.locator(".lead").textContent()).toMatch(
        /^4 scripts in .*: 1 failed, 2 executed, 1 skipped$/,
      );
      const [first, ...rest] = await labels(page);
      expect(first).toBe("web t");
      expect(rest.toSorted()).toEqual(["alone t", "app t", "core t"]);
      expect(await rowOf(page, "web t").locator("details").getAttribute("open")).not.toBeNull();
      expect(await rowOf(page, "web t").locator("pre").textContent()).toBe("same\nfailing\n");
      for (const name of ["core t", "app t", "alone t"]) await rowOf(page, name).locator("summary").click();
      expect(await rowOf(page, "app t").locator("dl").textContent()).toContain(
        "Skipped because web t did not succeed",
      );
      const core = rowOf(page, "core t").locator("pre");
      expect(await core.textContent()).toBe(
        "red palette exact plain\n</script><script>document.title = 1</script><img src=x onerror=alert(1)>\n",
      );
      const styles = await core
        .locator("span")
        .evaluateAll((spans) =>
          spans.map((span) => [span.getAttribute("class"), span.getAttribute("style")]),
        );
      expect(styles).toEqual([
        ["f-ansi-red ansi-bold", null],
        ["f-ansi-palette-208 exact", "color: rgb(255, 135, 0);"],
        ["b-ansi-truecolor exact", "background-color: rgb(1, 2, 3);"],
      ]);
      expect(await rowOf(page, "alone t").locator("pre").textContent()).toBe("whole\nend");
      expect(await findBarriers(page)).toEqual([]);
      expect(view.complaints).toEqual([]);
    },
  );

  test("shows the dependencies and the critical path", async () => {
    await using view = await openPage(browser, project.join("run.html"));
    const { page } = view;
    const data = JSON.parse((await page.locator("#data").textContent())!) as {
      critical: number;
      tasks: { label: string; start: number; duration: number; isCritical: boolean; before: number[] }[];
    };
    const of = (label: string) => data.tasks.find((task) => task.label === label)!;
    expect(of("web t").before.map((index) => data.tasks[index]!.label)).toEqual(["core t"]);
    const chain = of("core t").duration + of("web t").duration;
    expect(data.critical).toBeCloseTo(Math.max(chain, of("alone t").duration), 0);
    expect(of("web t").isCritical).toBe(chain > of("alone t").duration);
    expect(of("web t").start).toBeGreaterThanOrEqual(of("core t").start + of("core t").duration - 0.2);
    await rowOf(page, "core t").locator("summary").click();
    expect(await rowOf(page, "core t").locator("dl").textContent()).toContain("Dependentsweb t");
    expect(await page.locator("header").textContent()).toMatch(
      /The run would have taken .* with any number of processors/,
    );
  });

  test("works with the keyboard alone", async () => {
    await using view = await openPage(browser, project.join("run.html"));
    const { page } = view;
    const focused = () =>
      page.evaluate(() => document.activeElement!.querySelector(".name")?.firstChild!.textContent);
    await page.keyboard.press("/");
    await page.keyboard.type("core");
    expect(await labels(page)).toEqual(["core t"]);
    expect(await page.getByRole("status").textContent()).toBe("1 of 4 scripts");
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("core t");
    await page.keyboard.press("Enter");
    // The browser adds the row's content after it has opened the row.
    await rowOf(page, "core t").locator("pre").waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement!.getAttribute("aria-label"))).toBe(
      "Output of core t",
    );
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    expect((await labels(page)).length).toBe(4);
    // The search includes the output of scripts.
    await page.keyboard.type("failing");
    expect(await labels(page)).toEqual(["web t"]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    const last = (await labels(page)).at(-1)!;
    expect(await focused()).toBe(last);
    await page.getByRole("button", { name: "skipped" }).focus();
    await page.keyboard.press("Space");
    expect(await labels(page)).toEqual(["app t"]);
  });
});

test("the page distinguishes cached scripts from executed scripts", async () => {
  await using project = await createProject({
    ...workspace({ a: scripts("echo made"), b: scripts("echo each time >> log; cat log") }),
    "rtfig.toml": '[run.cache]\n"a#t" = true\n',
  });
  await using cache = await createProject();
  const env = { XDG_CACHE_HOME: cache.path };
  await run(project, ["--filter", "*", "t"], env);
  const { stderr } = await run(project, ["--filter", "*", "t"], env);
  if (process.platform !== "linux" || stderr.includes("warning: ")) return;
  await using view = await openPage(browser, project.join("run.html"));
  const { page } = view;
  expect(await page.locator(".lead").textContent()).toMatch(/: 1 executed, 1 from the cache$/);
  await page.getByRole("button", { name: "from the cache" }).click();
  expect(await labels(page)).toEqual(["a t"]);
  await rowOf(page, "a t").locator("summary").click();
  expect(await rowOf(page, "a t").locator("pre").textContent()).toBe("made\n");
  expect(await rowOf(page, "a t").locator("dl").textContent()).toMatch(
    /Cached \(saved .*\).*Cache hit.*inputs are unchanged since/,
  );
  expect(await findBarriers(page)).toEqual([]);
});

test("the page handles a thousand scripts, with hostile names and long output", async () => {
  const EVIL = "x</script>\u001b]0;t\u0007\u202e\"'<b>&amp;";
  const names = Array.from({ length: 999 }, (_, index) => `s${index}`);
  // Scripts after the one that fails have rows too, and are not started.
  const scriptOf = (name: string) => (name === "s99" ? "exit 1" : `echo ${name}`);
  await using project = await createProject({
    "package.json": {
      scripts: {
        ...Object.fromEntries(names.map((name) => [name, scriptOf(name)])),
        [EVIL]: "seq -f 'line %g' 0 39999",
      },
    },
  });
  const { status } = await run(project, ["--silent", "--sequential", EVIL, ...names]);
  expect(status).toBe(1);
  await using view = await openPage(browser, project.join("run.html"));
  const { page } = view;
  expect(await page.locator("li").count()).toBe(1000);
  expect((await page.content()).length).toBeLessThan(4_000_000);
  await page.getByRole("searchbox").fill("s998");
  expect(await labels(page)).toEqual(["s998"]);
  await page.getByRole("searchbox").fill("x</script>");
  expect(await labels(page)).toEqual([`x</script>\\u001b]0;t\\u0007\\u202e"'<b>&amp;`]);
  await page.locator("li:visible summary").click();
  const output = (await page.locator("li:visible pre").textContent())!;
  expect(output).toStartWith("line 0\nline 1\n");
  expect(output).toEndWith("line 39998\nline 39999\n");
  const [, left] = /\n\[([\d,]+) bytes omitted\]\nline \d+\n/.exec(output)!;
  const whole = Array.from({ length: 40_000 }, (_, index) => `line ${index}\n`).join("").length;
  const shown = output.replace(/\n\[[\d,]+ bytes omitted\]\n/, "").length;
  expect(Number(left!.replaceAll(",", ""))).toBe(whole - shown);
  expect(await page.locator("script:not([type])").count()).toBe(1);
  expect(view.complaints).toEqual([]);
});
