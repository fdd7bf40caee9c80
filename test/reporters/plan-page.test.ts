// Tests `--dry-run=html` and `--dry-run=mermaid`: the plan and its reasons as a picture and as Mermaid text.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { CAN_TRACE } from "../cache/cached-project.ts";
import { findBarriers, launchBrowser, openPage } from "../support/programs/browser.ts";
import { createProject, type Project } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { scripts, workspace } from "../support/workspace.ts";

const EVIL = 'x"]-->|<b>\u202e#`';
let browser: Browser;
let project: Project;

beforeAll(async () => {
  browser = await launchBrowser();
  project = await createProject(
    workspace({
      core: scripts("echo core"),
      api: { ...scripts("echo api"), dependencies: { core: "*" } },
      web: { ...scripts("echo web"), dependencies: { api: "*", core: "*" } },
      [EVIL]: scripts("echo '</script><script>alert(1)</script>'"),
    }),
  );
  const git = async (...args: string[]) => {
    const identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
    await Bun.spawn(["git", ...identity, ...args], { cwd: project.path, stdout: "ignore", stderr: "ignore" })
      .exited;
  };
  await git("init", "-q");
  await git("add", ".");
  await git("commit", "-qm", "start");
  await project.write({ "packages/core/notes.txt": "changed" });
});
afterAll(async () => {
  await browser?.close();
  await project?.[Symbol.asyncDispose]();
});

async function plan(...args: string[]): Promise<string> {
  const { stdout, stderr } = await runRt({ args: ["run", ...args, "t"], cwd: project.path });
  expect(stderr).toBe("");
  return stdout;
}

test("a Mermaid plan names the file, package or filter that is the reason", async () => {
  expect(await plan("--dry-run=mermaid", "--affected=HEAD")).toBe(
    [
      "flowchart LR",
      '  t0["core t<br/>because packages/core/notes.txt changed"]',
      '  t1["api t<br/>because it depends on core, which is affected"]',
      '  t2["web t<br/>because it depends on core, which is affected"]',
      "  t0 --> t1",
      "  t1 --> t2",
      "  t0 --> t2",
      "",
    ].join("\n"),
  );
  // Sequential scripts form one chain, regardless of dependencies.
  const sequential = await plan("--dry-run=mermaid", "--sequential", "--affected=HEAD");
  expect(sequential.split("\n").filter((line) => line.includes("-->"))).toEqual([
    "  t0 --> t1",
    "  t1 --> t2",
  ]);
  expect(await plan("--dry-run=mermaid", "--filter", "core...", "--filter", "!api")).toBe(
    'flowchart LR\n  t0["core t<br/>because of --filter core..."]\n',
  );
  const all = (await plan("--dry-run=mermaid", "--workspaces")).split("\n");
  expect(all[1]).toBe("  %% all: because --workspaces means every package");
  expect(all.filter((line) => line.includes("because"))).toHaveLength(1);
  expect(all.some((line) => line.endsWith('["x#34;#93;--#62;#124;#60;b#62;#92;u202e#35;#96; t"]'))).toBe(
    true,
  );
});

test("the page draws the plan and lists it with its reasons", async () => {
  await project.write({ "plan.html": await plan("--dry-run=html", "--filter", "*", "--affected=HEAD") });
  for (const scheme of ["light", "dark"] as const) {
    await using view = await openPage(browser, project.join("plan.html"), scheme);
    const { page } = view;
    expect(await page.locator(".lead").textContent()).toBe("3 scripts would run, in order of dependencies");
    expect(await page.locator("header p").allTextContents()).toContain("All: because of --filter '*'");
    expect(await page.locator("main").textContent()).not.toContain("because of --filter");
    expect(await page.locator(".legend").count()).toBe(0);
    expect(await page.locator("svg a").evaluateAll((links) => links.map((link) => link.textContent))).toEqual(
      [
        "core t because packages/core/notes.txt changed",
        "api t because it depends on core, which is affected",
        "web t because it depends on core, which is affected",
      ],
    );
    // web also depends on core directly, which the path through api implies.
    expect(await page.locator("svg > path").count()).toBe(2);
    const [core, api] = await page
      .locator("svg rect")
      .evaluateAll((boxes) => boxes.map((box) => box.getBoundingClientRect().toJSON()));
    expect(api.left).toBeGreaterThan(core.right);
    expect(await page.locator("li").nth(2).textContent()).toContain("after api t, core t");
    await page.keyboard.press("/");
    await page.keyboard.type("echo api");
    expect(await page.locator("li:visible h3").allTextContents()).toEqual(["api t"]);
    await page.keyboard.press("Escape");
    await page.locator("svg a").nth(1).focus();
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.querySelector(":target h3")!.textContent)).toBe("api t");
    expect(await findBarriers(page)).toEqual([]);
    expect(view.complaints).toEqual([]);
  }
});

test.skipIf(!CAN_TRACE)(
  "a plan shows which scripts would run and which would be restored from the cache",
  async () => {
    await using cached = await createProject({
      ...workspace({ core: scripts("cat in"), api: scripts("cat in"), web: scripts("echo web") }),
      "packages/core/in": "in",
      "packages/api/in": "in",
      "rtfig.toml": '[run.cache]\n"core#t" = true\n"api#t" = true\n',
    });
    const run = async (...args: string[]) => {
      const { stdout, status } = await runRt({
        args: ["run", "--filter", "*", ...args, "t"],
        cwd: cached.path,
        env: { XDG_CACHE_HOME: cached.join(".cache") },
      });
      expect(status).toBe(0);
      return stdout;
    };
    await run();
    await cached.write({ "packages/api/in": "other" });
    const lines = (await run("--dry-run=mermaid")).split("\n");
    expect(lines.filter((line) => line.startsWith("  t")).toSorted()).toEqual([
      expect.stringMatching(/^  t0\["api t<br\/>cache miss#58; [^"]*packages\/api\/in [^"]*"\]$/),
      expect.stringMatching(/^  t1\["core t<br\/>cache hit#58; [^"]*"\]:::cached$/),
      '  t2["web t"]',
    ]);
    expect(lines.at(-2)).toBe("  classDef cached stroke-dasharray:5");
    await cached.write({ "plan.html": await run("--dry-run=html") });
    await using view = await openPage(browser, cached.join("plan.html"));
    const { page } = view;
    expect(await page.locator(".lead").textContent()).toBe(
      "2 of 3 scripts would run (1 cached), in order of dependencies",
    );
    expect(await page.locator(".legend").textContent()).toBe("would runwould not run: cached");
    const dashes = await page
      .locator("svg a")
      .evaluateAll((boxes) =>
        boxes.map((box) => [
          box.textContent.split(":")[0],
          getComputedStyle(box.querySelector("rect")!).strokeDasharray !== "none",
        ]),
      );
    expect(dashes).toEqual([
      ["api t cache miss", false],
      ["core t cache hit", true],
      ["web t ", false],
    ]);
    expect(await page.locator("li.cached h3").allTextContents()).toEqual(["core t"]);
    expect(await findBarriers(page)).toEqual([]);
    expect(view.complaints).toEqual([]);
  },
);

test("the page shows names and commands as text only", async () => {
  await project.write({ "evil.html": await plan("--dry-run=html", "--filter", "*") });
  await using view = await openPage(browser, project.join("evil.html"));
  const texts = await view.page.locator("h3").allTextContents();
  expect(texts).toContain('x"]-->|<b>\\u202e#` t');
  expect(await view.page.locator("script:not([type])").count()).toBe(1);
  expect(view.complaints).toEqual([]);
});

test("the page shows 300 scripts in columns, each to the right of its dependencies", async () => {
  const packages = Array.from({ length: 300 }, (_, index) => [
    `p${index}`,
    { ...scripts("true"), dependencies: Object.fromEntries([[`p${index >> 1}`, "*"]]) },
  ]);
  await using large = await createProject(workspace(Object.fromEntries(packages)));
  const { stdout } = await runRt({ args: ["run", "--filter", "*", "--dry-run=html", "t"], cwd: large.path });
  await large.write({ "plan.html": stdout });
  await using view = await openPage(browser, large.join("plan.html"));
  const { drawing } = JSON.parse((await view.page.locator("#data").textContent())!) as {
    drawing: { boxes: Box[]; arrows: { from: number; to: number }[] };
  };
  expect(drawing.boxes.length).toBe(300);
  expect(drawing.arrows.length).toBe(299);
  for (const { from, to } of drawing.arrows) {
    const [a, b] = [drawing.boxes[from]!, drawing.boxes[to]!];
    expect(a.x + a.width / 2).toBeLessThan(b.x - b.width / 2);
  }
  expect(new Set(drawing.boxes.map(({ x, y }) => `${x} ${y}`)).size).toBe(300);
  expect(view.complaints).toEqual([]);
});

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}
