// Sets up a checkout with only Node and npm, then runs a script or command with the pinned engine:
//
//   node build/setup.mjs [--system=<need>] <script.ts | bun command> [args...]
//
// --system installs the rows of build/system-packages.json with that need ("test", "bench", "start" ...). Commas separate several
// needs.
//
// Non-obvious: this is plain JavaScript, because the engine is not installed yet. npm downloads only the engine's package for
// this system. The table below has its checksum from the npm registry, so no registry, mirror or cache can replace it. Its
// install scripts do not run.
//
// `bun install --frozen-lockfile` installs the rest. It verifies the checksums of bun.lock and runs no untrusted install
// script. A plain `npm install` fails on Linux, because it tries to build a Windows-only package.
import { spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const ENGINE_VERSION = "1.4.5";

/** The integrity of the engine's packages in this version. */
const ENGINES = {
  "linux-x64":
    "sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==",
  "linux-aarch64":
    "sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==",
  "linux-x64-musl":
    "sha512-10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ==",
  "linux-aarch64-musl":
    "sha512-XCNc+WvvMAdNNb+OWTogpy+N9wm62fkVeEVLb6how0RZhW5LPi6c7BlkeVCuWps7XjEl2saFpHFa20/1E+PAHg==",
  "darwin-x64":
    "sha512-qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg==",
  "darwin-aarch64":
    "sha512-4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==",
  "windows-x64":
    "sha512-FNvply651vcE/GHgNWz6mZvhmkwBuu8Hw54oNzA+CQog+HW+542rXQmZqNHRkFxazD9L3xi+iTtvO3engAgJfw==",
  "windows-aarch64":
    "sha512-MiPFZnBNDnBXgr1oONc5pizC4fOLjnIOfNkYdFEnWzLmoFTg86naZIG3SvS7d/GglpQSAnCKMAzSjI/TAckiRw==",
};

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
  const isOther = result.stderr?.includes("EINTEGRITY");
  fail(
    `${[command, ...args].join(" ")} failed (${reason})`,
    isOther
      ? "the npm registry in use has another engine than was published; see npm config get registry"
      : "check the network and the npm registry settings, then run the command again",
  );
}

function engineVersion() {
  const result = spawnSync(engine, ["--version"], { encoding: "utf8" });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

/** The names of the engine's packages. */
function systemName() {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const arch = process.arch === "arm64" ? "aarch64" : process.arch;
  const isMusl = os === "linux" && !process.report.getReport().header.glibcVersionRuntime;
  return `${os}-${arch}${isMusl ? "-musl" : ""}`;
}

function installEngine() {
  if (engineVersion() === ENGINE_VERSION) return;
  const system = systemName();
  const integrity = ENGINES[system];
  if (!integrity) fail(`there is no engine for ${system}`);
  console.error(`Fetching the engine (bun ${ENGINE_VERSION}) ...`);
  const name = `@oven/bun-${system}`;
  const dependencies = { [name]: ENGINE_VERSION };
  // A lockfile without addresses: npm uses its configured registry, and rejects other bytes.
  const lock = {
    lockfileVersion: 3,
    packages: {
      "": { dependencies },
      [`node_modules/${name}`]: { version: ENGINE_VERSION, integrity },
    },
  };
  mkdirSync(toolchain, { recursive: true });
  const write = (file, content) => writeFileSync(join(toolchain, file), `${JSON.stringify(content)}\n`);
  write("package.json", { private: true, dependencies });
  write("package-lock.json", lock);
  const shell = process.platform === "win32"; // npm is a .cmd there
  run("npm", ["ci", "--prefix", toolchain, "--no-audit", "--no-fund", "--ignore-scripts"], { shell });
  const fetched = join(
    toolchain,
    "node_modules",
    name,
    "bin",
    system.startsWith("windows") ? "bun.exe" : "bun",
  );
  rmSync(engineDirectory, { recursive: true, force: true });
  mkdirSync(join(engineDirectory, "bin"), { recursive: true });
  renameSync(fetched, engine);
  chmodSync(engine, 0o755);
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

// The list of programs and files that npm does not provide; build/system-programs.ts uses it too.
const SYSTEM_PACKAGES = JSON.parse(readFileSync(join(root, "build", "system-packages.json"), "utf8"));

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isInstalled({ file, program = [] }) {
  const directories = (process.env.PATH ?? "").split(delimiter);
  const isFound = (name) => directories.some((directory) => isExecutable(join(directory, name)));
  return (!file || existsSync(file)) && [program].flat().every(isFound);
}

function installSystemPackages(wanted) {
  if (process.platform !== "linux") return;
  const needed = SYSTEM_PACKAGES.filter(({ needs = ["test"] }) =>
    needs.some((need) => wanted.includes(need)),
  );
  const missing = needed.filter((each) => !isInstalled(each));
  if (missing.length === 0) return;
  const names = [...new Set(missing.map(({ name }) => name))];
  const isRoot = process.getuid?.() === 0;
  const hasApt =
    spawnSync("sh", ["-c", `command -v apt-get${isRoot ? "" : " && sudo -n true"}`]).status === 0;
  if (!hasApt) {
    const message = `these programs are missing: ${missing.map(({ program, file }) => program ?? file).join(", ")}`;
    const hint = `install them, on Debian or Ubuntu with: sudo apt-get install ${names.join(" ")}`;
    // The tour continues without them, but a test run without them must fail.
    if (!wanted.includes("start")) fail(message, hint);
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
const wanted = args[0]?.startsWith("--system=") ? args.shift().slice("--system=".length).split(",") : [];
installEngine();
installPackages();
if (wanted.length > 0) installSystemPackages(wanted);
if (args.length > 0) {
  const child = spawnSync(engine, args, { cwd: root, stdio: "inherit" });
  if (child.signal) process.kill(process.pid, child.signal);
  process.exit(child.status ?? 1);
}
