// Creates docs/run.png, the screenshot of a run page in README.md. Chromium takes it after dist/rt has run a small workspace
// twice, so that some tasks are cache hits. Times differ, so no test compares it.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { chromium } from "playwright-core";
import { DIST } from "../compile.ts";

const ROOT = join(import.meta.dir, "../..");
const SIZE = { width: 1040, height: 760 };

/** By package: its dependencies, and its duration in seconds. */
const PACKAGES: Readonly<Record<string, readonly [needs: readonly string[], script: string]>> = {
  log: [[], "sleep 0.7; echo built log"],
  icons: [[], "sleep 0.5; echo built icons"],
  core: [["log"], "sleep 0.9; printf '\\033[32m✓\\033[0m 214 modules transformed\\n'"],
  ui: [["icons", "log"], "sleep 1.4; echo built ui"],
  api: [
    ["core"],
    "sleep 0.8; printf 'src/routes.ts:41:7 \\033[31merror\\033[0m Cannot find name \\033[1mOrderId\\033[0m\\n'; exit 2",
  ],
  docs: [[], "sleep 0.6; echo built docs"],
  web: [["ui", "core"], "sleep 1.1; echo built web"],
  admin: [["ui", "api"], "sleep 1; echo built admin"],
};

async function writeWorkspace(directory: string): Promise<void> {
  const files = { "package.json": { name: "shop", workspaces: ["packages/*"] } } as Record<string, object>;
  for (const [name, [needs, build]] of Object.entries(PACKAGES)) {
    const dependencies = Object.fromEntries(needs.map((each) => [each, "workspace:*"]));
    files[`packages/${name}/package.json`] = { name, dependencies, scripts: { build } };
  }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), JSON.stringify(content));
  }
  await writeFile(join(directory, "rtfig.toml"), '[run.cache]\n"log#build" = true\n"icons#build" = true\n');
}

async function takePicture(page: string, picture: string): Promise<void> {
  const args = ["--headless", "--no-sandbox", "--disable-gpu"];
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  await using browser = await chromium.launch({ executablePath, args });
  const view = await browser.newPage({ viewport: SIZE, colorScheme: "light" });
  await view.goto(`file://${page}`);
  await view.screenshot({ path: picture });
}

const directory = await mkdtemp(join(tmpdir(), "rt-picture-"));
try {
  await writeWorkspace(directory);
  const words = ["run", "--filter", "*", "--concurrency=2", "--report=run.html", "build"];
  for (let time = 0; time < 2; time++)
    await Bun.spawn([join(DIST, "rt"), ...words], {
      cwd: directory,
      env: { PATH: process.env.PATH, HOME: directory, CI: "1" },
      stdout: "ignore",
      stderr: "ignore",
    }).exited;
  await takePicture(join(directory, "run.html"), join(ROOT, "docs/run.png"));
} finally {
  await rm(directory, { recursive: true, force: true });
}
