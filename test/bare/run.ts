// `npm run test:bare` runs CI on a new machine. It builds a minimal Debian, installs Node.js, npm and git, and clones the last commit
// there. Then it runs the commands of README.md and .ci/run.
//
// Options after `--`:
// - `--keep` keeps the directory and prints its path.
// - `--then=<command>` runs that command instead of .ci/run.
//
// Invariants:
// - Package registries, proxies and certificates are the host's: of apt, npm and the environment. None is named here.
// - A separate mount namespace has the mounts, so removing the directory cannot reach a file of the host.
//
// Non-obvious:
// - The first process is a shell, which reaps orphans as an init process does.
// - The root is exchanged with pivot_root: the kernel allows no user namespace below a chroot, and tests need one.
// - Services do not start when their packages are installed, as in a container image: they would take ports of the host.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { hasProgram } from "../../build/system-programs.ts";

const REPOSITORY = join(import.meta.dir, "../..");
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
/** Settings of npmrc about registries, proxies and certificates. */
const REGISTRY_SETTING = /^\s*(?:\S*registry|\S*proxy|ca|cafile|strict-ssl|\/\/\S+)\s*=/;
const PROXY_SETTING = /^(?:https?|no|all)_proxy$/i;

const MOUNTS = `
set -e
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys || mount --rbind /sys sys
mount --rbind /sys/fs/cgroup sys/fs/cgroup || true
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
pivot_root . mnt
shift
exec chroot . /bin/sh -c 'umount -l /mnt; "$@"; exit $?' sh "$@"`;

/** The running command. The kernel kills its process namespace with it. */
let child: Bun.Subprocess | undefined;

interface AptTarget {
  readonly site: string;
  readonly release: string;
  readonly component: string;
}

function fail(message: string, hint: string): never {
  console.error(`error: ${message}\nhint: ${hint}`);
  process.exit(1);
}

function read(command: readonly string[]): string {
  const { stdout, exitCode } = Bun.spawnSync([...command], { stderr: "inherit" });
  if (exitCode !== 0)
    fail(`"${command.join(" ")}" failed with exit code ${exitCode}`, "see its message above");
  return stdout.toString();
}

/** Returns the host's apt sources of the distribution itself. */
function aptTargets(): AptTarget[] {
  const format = "$(ORIGIN)|$(SITE)|$(RELEASE)|$(COMPONENT)";
  const lines = read(["apt-get", "indextargets", "--format", format, "Created-By: Packages"]).split("\n");
  const targets = [...new Set(lines)].map((line) => line.split("|"));
  return targets
    .filter(([origin]) => origin === "Debian" || origin === "Ubuntu")
    .map(([, site, release, component]) => ({ site: site!, release: release!, component: component! }));
}

/** Returns the lines of the host's npmrc files that concern registries. */
function npmSettings(): string {
  const user = process.env.npm_config_userconfig ?? join(homedir(), ".npmrc");
  const files = [
    process.env.npm_config_globalconfig ?? read(["npm", "config", "get", "globalconfig"]).trim(),
    user,
  ];
  const lines = files.flatMap((path) => (existsSync(path) ? readFileSync(path, "utf8").split("\n") : []));
  return lines.filter((line) => REGISTRY_SETTING.test(line)).join("\n") + "\n";
}

/** Returns a new user's environment, with the host's proxies and registries. */
function environment(): Record<string, string> {
  const proxies = Object.entries(process.env).filter(([name]) => PROXY_SETTING.test(name)) as [
    string,
    string,
  ][];
  const user = { PATH, HOME: "/root", USER: "root", TERM: "dumb", ...Object.fromEntries(proxies) };
  return process.env.NODE_EXTRA_CA_CERTS ? { ...user, NODE_EXTRA_CA_CERTS: CERTIFICATES } : user;
}

async function run(
  command: readonly string[],
  env: Record<string, string | undefined> = process.env,
): Promise<number> {
  child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "inherit", stderr: "inherit" });
  return await child.exited;
}

/** Starts a command in a separate process namespace. All processes that it started end with it. */
const ISOLATED = ["unshare", "--mount", "--pid", "--fork", "--kill-child"];

async function bootstrap(root: string, targets: readonly AptTarget[]): Promise<void> {
  const codename = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  const target = targets.find(({ release }) => release === codename);
  if (!target) fail(`apt has no archive of "${codename}"`, "run apt-get update, and see apt-cache policy");
  const cache = join(REPOSITORY, ".toolchain/bare-packages");
  mkdirSync(cache, { recursive: true });
  const words = ["debootstrap", "--variant=minbase", `--cache-dir=${cache}`, codename!, root, target.site];
  if ((await run([...ISOLATED, ...words])) !== 0)
    fail("debootstrap failed", `see ${join(root, "debootstrap/debootstrap.log")}`);
}

/** Copies the host's registries, certificates and network files into the new system. */
function configure(root: string, targets: readonly AptTarget[]): void {
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode });
  };
  const lines = targets.map(({ site, release, component }) => `deb ${site} ${release} ${component}`);
  write("/etc/apt/sources.list", `${lines.join("\n")}\n`);
  const settings = read(["apt-config", "dump", "Acquire"]).split("\n");
  const network = settings.filter((line) => /^Acquire::(?:https?::|Check-|Retries)/.test(line));
  write("/etc/apt/apt.conf.d/10host", `${network.join("\n")}\n`);
  write("/root/.npmrc", npmSettings(), 0o600);
  write("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755);
  for (const path of ["/etc/resolv.conf", "/etc/hosts"])
    if (existsSync(path)) write(path, readFileSync(path, "utf8"));
  chmodSync(root, 0o755);
}

/** Returns the commands of README.md's first block. */
async function readmeCommands(): Promise<string> {
  const readme = await Bun.file(join(REPOSITORY, "README.md")).text();
  const block = /```sh[^\n]*\n(git clone [^]*?)```/.exec(readme)?.[1];
  if (!block) fail("README.md has no block that begins with git clone", "adapt test/bare/run.ts");
  return block.replace("<this repository>", "/srv/rt.git");
}

const isKept = process.argv.includes("--keep");
const then = process.argv.find((word) => word.startsWith("--then="))?.slice("--then=".length) ?? ".ci/run";
if (process.platform !== "linux" || !hasProgram("apt-get"))
  fail("a minimal Debian can be built on Debian and Ubuntu only", "use a machine or a container of those");
if (process.getuid?.() !== 0) fail("only root may mount what the new system needs", "sudo npm run test:bare");
const unsaved = read(["git", "-C", REPOSITORY, "status", "--porcelain"]);
if (unsaved !== "")
  console.error("warning: the last commit is tested, without the changes in the working tree");

const root = realpathSync(mkdtempSync(join(tmpdir(), "rt-bare-")));
process.on("exit", () => {
  child?.kill("SIGKILL");
  if (isKept) console.error(`note: the system is in ${root}`);
  else rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

const inside = async (script: string) =>
  await run([...ISOLATED, "sh", "-c", MOUNTS, "sh", root, "bash", "-c", script], environment());
const targets = aptTargets();
console.error("Building a minimal Debian ...");
await bootstrap(root, targets);
configure(root, targets);
console.error("Installing Node.js, npm and git ...");
const install = "apt-get -qq update && apt-get -qq install -y --no-install-recommends nodejs npm git";
if ((await inside(`export DEBIAN_FRONTEND=noninteractive; ${install} >/dev/null`)) !== 0)
  fail("Node.js, npm and git could not be installed", "see the messages of apt-get above");
if (existsSync(CERTIFICATES)) {
  mkdirSync(dirname(join(root, CERTIFICATES)), { recursive: true });
  writeFileSync(join(root, CERTIFICATES), readFileSync(CERTIFICATES));
}
read(["git", "clone", "-q", "--bare", "--no-hardlinks", REPOSITORY, join(root, "srv/rt.git")]);
const commands = await readmeCommands();
const status = await inside(`set -eo pipefail; cd; ${commands}\n${then}`);
process.exit(status);
