// Sets up a checkout with nothing but Node and npm, then runs one thing with the pinned engine:
//
//   node build/setup.mjs [--system=<need>] <script.ts | bun command> [args...]
//
// --system installs what the need ("test", "bench", "start") has in build/system-packages.json.
//
// Plain JavaScript, because no engine is there yet. npm fetches the `bun` package alone and its own
// installer is started by name: npm may be told to block install scripts, and then leaves the package
// without its binary. Everything else comes from `bun install --frozen-lockfile`, which runs no
// untrusted install script (a plain `npm install` of this dependency list fails on Linux, where a
// Windows-only package tries to build itself).
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ENGINE_VERSION = "1.4.5";

const root = fileURLToPath(new URL("..", import.meta.url));
const toolchain = join(root, ".toolchain");
const engineDirectory = join(toolchain, "node_modules", "bun");
const engine = join(engineDirectory, "bin", "bun.exe");

function fail(message, hint) {
  console.error(`error: ${message}`);
  if (hint) console.error(`hint: ${hint}`);
  process.exit(1);
}

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: ["ignore", "ignore", "pipe"], ...options });
  if (result.status === 0) return;
  if (result.stderr) process.stderr.write(result.stderr);
  const reason = result.error?.message ?? `exit code ${result.status}`;
  fail(
    `${[command, ...args].join(" ")} failed (${reason})`,
    "check the network and the npm registry settings, then run the command again",
  );
}

function engineVersion() {
  const result = spawnSync(engine, ["--version"], { encoding: "utf8" });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

function installEngine() {
  if (engineVersion() === ENGINE_VERSION) return;
  console.error(`Fetching the engine (bun ${ENGINE_VERSION}) ...`);
  mkdirSync(toolchain, { recursive: true });
  writeFileSync(join(toolchain, "package.json"), '{ "private": true }\n');
  const shell = process.platform === "win32"; // npm is a .cmd there
  run(
    "npm",
    [
      "install",
      "--prefix",
      toolchain,
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      `bun@${ENGINE_VERSION}`,
    ],
    { shell },
  );
  run(process.execPath, [join(engineDirectory, "install.js")], { cwd: engineDirectory });
  if (engineVersion() !== ENGINE_VERSION)
    fail(`the engine at ${engine} does not start`, "remove .toolchain and try again");
}

function modified(path) {
  return existsSync(path) ? statSync(path).mtimeMs : 0;
}

function installPackages() {
  const stamp = join(root, "node_modules", ".rt-setup");
  if (modified(stamp) > Math.max(modified(join(root, "bun.lock")), modified(join(root, "package.json"))))
    return;
  run(engine, ["install", "--frozen-lockfile"]);
  writeFileSync(stamp, "");
}

// One list per need: what the tests start that npm does not carry. `program` tells whether it is there.
const SYSTEM_PACKAGES = JSON.parse(readFileSync(join(root, "build", "system-packages.json"), "utf8"));

function isInstalled({ file, program }) {
  return file ? existsSync(file) : spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;
}

function installSystemPackages(need) {
  if (process.platform !== "linux") return;
  const needed = SYSTEM_PACKAGES.filter(({ needs = ["test"] }) => needs.includes(need));
  const missing = needed.filter((each) => !isInstalled(each));
  if (missing.length === 0) return;
  const names = [...new Set(missing.map(({ name }) => name))];
  const isRoot = process.getuid?.() === 0;
  const hasApt =
    spawnSync("sh", ["-c", `command -v apt-get${isRoot ? "" : " && sudo -n true"}`]).status === 0;
  if (!hasApt) {
    const message = `these programs are missing: ${missing.map(({ program, file }) => program ?? file).join(", ")}`;
    const hint = `install them, on Debian or Ubuntu with: sudo apt-get install ${names.join(" ")}`;
    // The tour goes without; a test run that cannot test what it claims to must not pass.
    if (need !== "start") fail(message, hint);
    console.error(`note: ${message}\nhint: ${hint}`);
    return;
  }
  console.error(`Installing system packages: ${names.join(" ")} ...`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const [command, ...prefix] = isRoot ? ["apt-get"] : ["sudo", "-n", "apt-get"];
  const install = ["install", "-y", "--no-install-recommends", ...names];
  if (spawnSync(command, [...prefix, ...install], { stdio: "ignore", env }).status === 0) return;
  run(command, [...prefix, "update"], { env });
  run(command, [...prefix, ...install], { env });
}

const args = process.argv.slice(2);
const need = args[0]?.startsWith("--system=") ? args.shift().slice("--system=".length) : undefined;
installEngine();
installPackages();
if (need) installSystemPackages(need);
if (args.length > 0) {
  const child = spawnSync(engine, args, { cwd: root, stdio: "inherit" });
  if (child.signal) process.kill(process.pid, child.signal);
  process.exit(child.status ?? 1);
}
