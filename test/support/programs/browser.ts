// Opens a page that rt has written in Chromium, from its file.
//
//   await using view = await openPage(path, "dark");
//   expect(view.complaints).toEqual([]);
import { type Browser, chromium, type Page } from "playwright-core";
import { tmpdir } from "node:os";
import { pathToFileURL } from "node:url";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"];
const QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];
/**
 * The pages of a site share a process, as on a machine with little memory, since starting a process takes longer than a
 * page. Drawing runs in the browser's process, because the watchdog of a separate one kills it on a slow machine.
 */
const FEW_PROCESSES = ["--in-process-gpu", "--disable-gpu-watchdog", "--renderer-process-limit=1"];

export function launchBrowser(): Promise<Browser> {
  return startChromium([...FLAGS, ...QUIET, ...FEW_PROCESSES]);
}

/** Its settings are in the directory of the run. */
export function startChromium(args: string[]): Promise<Browser> {
  const env = { ...process.env, HOME: tmpdir(), XDG_CONFIG_HOME: undefined, XDG_CACHE_HOME: undefined };
  return chromium.launch({ executablePath: CHROMIUM, args, env });
}

export interface View extends AsyncDisposable {
  readonly page: Page;
  /** Messages of the console and of the page's script, and requests for anything but the file. */
  readonly complaints: readonly string[];
}

/** One tab for all views, one after the other, since each tab starts processes. */
export async function openPage(
  browser: Browser,
  file: string,
  colorScheme: "light" | "dark" = "light",
): Promise<View> {
  const context = browser.contexts()[0] ?? (await browser.newContext());
  const page = context.pages()[0] ?? (await context.newPage());
  const url = pathToFileURL(file).href;
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (request.url().replace(/#.*/, "") !== url) complaints.push(request.url());
  });
  await page.emulateMedia({ colorScheme });
  await page.goto(url);
  return {
    page,
    complaints,
    async [Symbol.asyncDispose]() {
      page.removeAllListeners();
      await page.goto("about:blank");
    },
  };
}

/** Returns axe-core's serious findings. The page forbids foreign scripts, so axe-core is evaluated from outside. */
export async function findBarriers(page: Page): Promise<string[]> {
  const axe = await Bun.file(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir)).text();
  await page.evaluate(axe);
  const { violations } = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return await axe.run();
  });
  return violations
    .filter(({ impact }) => impact !== "minor")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}
