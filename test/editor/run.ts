// `npm run test:editor`: VS Code's debugger with rt, in code-server (VS Code for a browser) and Chromium.
//
// `npm run test:editor -- 20` repeats it 20 times. Not a part of `npm test`: it downloads 800 MB into the user's cache directory
// once, and takes minutes.
//
// The editor runs extension.ts; this program reads its checks from a file, one a line.
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { chromium } from "playwright-core";
import { compile, DIST } from "../../build/compile.ts";
import { hostTarget } from "../../build/targets.ts";
import { freePort } from "../support/servers/ports.ts";
import { waitUntil } from "../support/processes.ts";
import { SOURCES } from "./project.ts";

const CACHE = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
const PLACE = join(CACHE, "rt-test-editor");
const ARCH = process.arch === "arm64" ? "arm64" : "x64";
/** The editor and its version of Node.js. */
const PACKAGES = { "code-server": "4.139.1", [`node-linux-${ARCH}`]: "24.21.0" };
const EDITOR = join(PLACE, "node_modules/code-server");
const NODE = join(PLACE, `node_modules/node-linux-${ARCH}/bin/node`);
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"];
/** Time limit of one run, since the editor may stop answering. */
const TIME_LIMIT = 900_000; // ms

async function npm(directory: string, ...args: string[]): Promise<void> {
  const command = [
    "npm",
    "install",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    ...args,
  ];
  const child = Bun.spawn(command, { cwd: directory, stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0)
    fail(
      `Cannot fetch the editor: ${command.join(" ")} in ${directory}`,
      "see what npm says; nothing was tested",
    );
}

function fail(message: string, hint: string): never {
  console.error(`error: ${message}\nhint: ${hint}`);
  process.exit(2);
}

/** Installs the editor like its own install script, without compiling: the compiled parts are in the package. */
async function installEditor(): Promise<void> {
  const mark = join(PLACE, "installed.json");
  const versions = JSON.stringify(PACKAGES);
  if (existsSync(mark) && readFileSync(mark, "utf8") === versions) return;
  console.error("Fetching VS Code for the browser ...");
  rmSync(PLACE, { recursive: true, force: true });
  await Bun.write(join(PLACE, "package.json"), "{}\n");
  await npm(PLACE, ...Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`));
  await npm(join(EDITOR, "lib/vscode"), "--omit=dev");
  await npm(join(EDITOR, "lib/vscode/extensions"), "--omit=dev");
  await Bun.write(mark, versions);
}

/** Writes extension.ts as a package that the editor loads. */
async function writeExtension(directory: string): Promise<void> {
  const { outputs, success, logs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "extension.ts")],
    target: "node",
    format: "cjs",
    external: ["vscode"],
  });
  if (!success) throw new AggregateError(logs);
  const manifest = {
    name: "checks",
    publisher: "rt",
    version: "1.0.0",
    engines: { vscode: "^1.80.0" },
    main: "./main.js",
    activationEvents: ["onStartupFinished"],
  };
  await Bun.write(join(directory, "package.json"), JSON.stringify(manifest));
  await Bun.write(join(directory, "main.js"), outputs[0]!);
}

interface Line {
  readonly check?: string;
  readonly failure?: string;
  readonly done?: boolean;
}

/** @returns the number of checks, and of failed checks */
async function runOnce(): Promise<{ count: number; failed: number }> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "rt-editor-")));
  const [project, results, port] = [join(top, "project"), join(top, "results"), freePort()];
  try {
    for (const [file, text] of Object.entries(SOURCES)) await Bun.write(join(project, file), text);
    const extension = join(top, "extensions/rt.checks-1.0.0");
    await writeExtension(extension);
    await Bun.write(results, "");
    // The program in dist, as a user has it.
    const program = join(DIST, hostTarget().file);
    const PATH = `${dirname(program)}:${dirname(NODE)}:${process.env.PATH}`;
    // The editor reads its environment from a login shell.
    await Bun.write(join(top, ".profile"), `PATH='${PATH}'\n`);
    const environment = {
      PATH,
      HOME: top,
      SHELL: "/bin/sh",
      TMPDIR: top,
      RT_EDITOR_RESULTS: results,
      RT_EDITOR_PROGRAM: program,
    };
    Bun.spawnSync([program, "debug-config", "vscode"], { cwd: project, env: environment });
    const command = [
      "--auth",
      "none",
      "--bind-addr",
      `127.0.0.1:${port}`,
      "--user-data-dir",
      join(top, "data"),
    ];
    const more = [
      "--extensions-dir",
      join(top, "extensions"),
      "--disable-workspace-trust",
      "--disable-telemetry",
    ];
    await using server = Bun.spawn(
      [NODE, join(EDITOR, "out/node/entry.js"), ...command, ...more, "--disable-update-check", project],
      { env: environment, stdin: "ignore", stdout: "ignore", stderr: "ignore" },
    );
    await waitUntil(
      async () => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.ok === true,
    );
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(TIME_LIMIT);
      await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(project)}`);
      return await readResults(results);
    } finally {
      await browser.close();
      server.kill();
      await server.exited;
    }
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}

async function readResults(path: string): Promise<{ count: number; failed: number }> {
  let shown = 0;
  let failed = 0;
  let isDone = false;
  const deadline = performance.now() + TIME_LIMIT;
  await waitUntil(() => {
    const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
    for (const text of lines.slice(shown)) {
      const { check, failure, done } = JSON.parse(text) as Line;
      isDone ||= done === true;
      if (check === undefined) continue;
      if (failure !== undefined) failed += 1;
      console.log(failure === undefined ? `ok ${check}` : `not ok ${check}: ${failure}`);
    }
    shown = lines.length;
    return isDone || performance.now() > deadline;
  });
  if (!isDone) console.log("not ok: the editor did not come to the end");
  return { count: isDone ? shown - 1 : shown, failed: isDone ? failed : failed + 1 };
}

if (process.platform !== "linux") fail("npm run test:editor is for Linux", "run it in a container");
if (!existsSync(CHROMIUM))
  fail(`There is no ${CHROMIUM}`, "install Chromium, or set CHROMIUM to where it is");
await installEditor();
chmodSync(NODE, 0o755);
const target = hostTarget();
await compile(target, join(DIST, target.file));
let hasFailed = false;
for (let run = 1; run <= Number(process.argv[2] ?? 1); run += 1) {
  const { count, failed } = await runOnce();
  console.log(`run ${run}: ${count} checks, ${failed} failed`);
  hasFailed ||= failed > 0;
}
process.exit(hasFailed ? 1 : 0);
