// Computes what a task may do: its table of rtfig.toml combined with the project, HOME and the toolchain. Pure.
//
// Invariants:
// - Everything else is closed: the rest of HOME, other projects, /run, /tmp.
// - An entry of the project never contains HOME, which would open all of it.
import { dirname, join } from "node:path";
import type { HostRule } from "../../platform/permissions/contract/permissions.ts";
import { ALL_HOSTS, hostRulesOf, opensThisHost, THIS_HOST } from "../config/tasks/host-entry.ts";
import { folderOf, type PermissionTable } from "../config/tasks/permission-table.ts";
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";
import { isWithin } from "../workspace/member-match.ts";

/** Where a task runs. All paths are absolute and without symlinks. */
export interface TaskSurroundings {
  /** Folder of the root project. */
  readonly root: string;
  readonly packageDirectory: string;
  readonly home: string;
  readonly path: readonly string[];
  /** Folders of other packages, whose `.env` files are closed. */
  readonly otherPackages: readonly string[];
  /** Folders of rt itself. A task that writes them could choose what rt starts next. */
  readonly ownFolders: readonly string[];
  /** Files outside of the project that the user has named on the command line. */
  readonly named: readonly string[];
  readonly isRoot: boolean;
}

/** Where a rule comes from. Paths of the table and of the project may not have symlinks. */
export type RuleSource = "system" | "toolchain" | "project" | "table";

export interface ProfileRule {
  readonly path: string;
  readonly access: "read" | "write" | "device";
  readonly source: RuleSource;
}

export interface Profile {
  readonly rules: readonly ProfileRule[];
  readonly hidden: readonly string[];
  /** Closed if they have a token. */
  readonly toolConfigs: readonly string[];
  readonly envFolders: readonly string[];
  readonly sockets: readonly string[];
  readonly network: "none" | "loopback" | "open";
  readonly hosts: readonly HostRule[];
  /** The hosts as they are written. */
  readonly hostEntries: readonly string[];
}

/** Folders of the system that every task may read. /proc does not open other processes: Landlock covers them. */
export const SYSTEM_FOLDERS: readonly string[] = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/proc", "/sys"],
  ...["/nix", "/gnu/store", "/snap", "/run/current-system", "/run/opengl-driver", "/var/cache/fontconfig"],
];

const DEVICES: readonly string[] = [
  ...["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"],
];
/** Programs share memory between their own processes by files here. */
const SHARED_MEMORY = "/dev/shm";

/** Files of the system that root alone can read. */
const ROOT_FILES: readonly string[] = [
  ...["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"],
  ...["/etc/ssh", "/etc/ssl/private", "/etc/krb5.keytab", "/etc/security/opasswd", "/etc/ipsec.secrets"],
  ...["/etc/letsencrypt", "/etc/wireguard", "/etc/openvpn", "/etc/NetworkManager/system-connections"],
  ...["/etc/kubernetes", "/etc/rancher", "/etc/docker", "/etc/ppp"],
];

/** Folders of HOME in which tools install themselves and keep what they have downloaded. None has credentials. */
const TOOL_FOLDERS: readonly string[] = [
  ...[".nvm", ".fnm", ".local/share/fnm", ".volta", ".asdf", ".local/share/mise", ".local/share/pnpm"],
  ...[".bun", ".deno/bin", ".rustup", ".cargo/bin", ".cargo/registry", ".cargo/git", ".rbenv", ".pyenv"],
  ...[".sdkman/candidates", ".local/bin", ".local/lib", "go/bin", "go/pkg", ".npm/_cacache", ".npm/_npx"],
  ...[".yarn/berry/cache", ".yarn/releases", ".cache/node", ".cache/ms-playwright", ".cache/puppeteer"],
  ...[".cache/Cypress", ".cache/prisma", ".cache/pnpm", ".cache/yarn", ".cache/electron", ".m2/repository"],
];

/** From the folder of npm, its configuration for all users, in which `npm config set --global` writes tokens. */
const GLOBAL_NPMRC = "../etc/npmrc";

/** Folders beside a `bin` folder that its programs need. */
const BESIDE_BIN = ["lib", "libexec", "include"];

/** @throws UserError if the project contains HOME */
export function computeProfile(table: PermissionTable, surroundings: TaskSurroundings): Profile {
  const { root, packageDirectory, home, path, otherPackages, ownFolders, named, isRoot } = surroundings;
  if (isWithin(home, root))
    throw new UserError(
      `The project ${printable(root)} contains your home folder, so its tasks cannot have permissions`,
      "move the project to a folder of its own",
    );
  const rules: ProfileRule[] = [
    ...SYSTEM_FOLDERS.map((each) => ({ path: each, access: "read", source: "system" }) as const),
    ...DEVICES.map((each) => ({ path: each, access: "device", source: "system" }) as const),
    { path: SHARED_MEMORY, access: "write", source: "system" },
    ...TOOL_FOLDERS.map((each) => ({ path: join(home, each), access: "read", source: "toolchain" }) as const),
    { path: root, access: table.write ? "read" : "write", source: "project" },
  ];
  const resolveEntry = (entry: string) => resolvePath(folderOf(entry), packageDirectory, home);
  const add = (entries: readonly string[] | undefined, access: ProfileRule["access"]) => {
    for (const entry of entries ?? []) {
      const place = resolveEntry(entry);
      if (isWithin(home, place))
        throw new UserError(
          `"${printable(entry)}" in permissions contains your home folder`,
          "name the folders that the task needs",
        );
      const isOpened = (each: string) => isWithin(each, place) || isWithin(place, each);
      const own = access === "write" ? ownFolders.find(isOpened) : undefined;
      if (own !== undefined)
        throw new UserError(
          `"${printable(entry)}" in permissions opens ${printable(own)}, from which rt starts programs`,
          "name the folders that the task needs",
        );
      rules.push({ path: place, access, source: "table" });
    }
  };
  add(table.read, "read");
  add(table.write, "write");
  // The project is readable itself. A task may replace a folder below what it writes by a symlink, as node_modules/.bin.
  const changeable = [
    root,
    ...rules.filter(({ access }) => access === "write").map(({ path: each }) => each),
  ];
  for (const folder of new Set([...toolchainFolders(path, home), ...named]))
    if (!changeable.some((each) => isWithin(folder, each)))
      rules.push({ path: folder, access: "read", source: "toolchain" });
  return {
    rules,
    hidden: isRoot ? ROOT_FILES : [],
    toolConfigs: path.filter((folder) => folder.endsWith("/bin")).map((folder) => join(folder, GLOBAL_NPMRC)),
    envFolders: otherPackages,
    sockets: [root, ...(table.sockets ?? []).map(resolveEntry)],
    network: networkOf(table.hosts),
    hosts: (table.hosts ?? []).flatMap(hostRulesOf),
    hostEntries: table.hosts ?? [THIS_HOST],
  };
}

function networkOf(hosts: readonly string[] = [THIS_HOST]): Profile["network"] {
  if (hosts.includes(ALL_HOSTS)) return "open";
  return hosts.some(opensThisHost) ? "loopback" : "none";
}

function resolvePath(folder: string, packageDirectory: string, home: string): string {
  if (folder === "~" || folder.startsWith("~/")) return join(home, folder.slice(1));
  const path = folder.startsWith("/") ? join(folder) : join(packageDirectory, folder);
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** The folders of PATH, and `lib` beside `bin`. One that contains HOME opens nothing. */
function toolchainFolders(path: readonly string[], home: string): string[] {
  return path
    .flatMap((folder) =>
      folder.endsWith("/bin") ? [folder, ...BESIDE_BIN.map((each) => join(dirname(folder), each))] : [folder],
    )
    .filter((folder) => folder.startsWith("/") && !isWithin(home, folder));
}

/** Describes what differs from task to task, for `--dry-run`. */
export function describeProfile({ rules, sockets, network, hostEntries }: Profile, root: string): string[] {
  const own = rules.filter(({ source }) => source === "project" || source === "table");
  const list = (access: ProfileRule["access"]) =>
    own.filter((rule) => rule.access === access).map(({ path }) => showPath(path, root));
  const line = (verb: string, entries: readonly string[]) =>
    entries.length > 0 ? [`${verb} ${entries.join(", ")}`] : [];
  return [
    ...line("writes", [...list("write"), "its temporary folder"]),
    ...line("reads", [...list("read"), "the system", "tools"]),
    ...line("connects to", [
      ...(network === "open" ? ["all hosts"] : hostEntries.map(printable)),
      ...sockets.map((each) => `sockets in ${showPath(each, root)}`),
    ]),
  ];
}

function showPath(path: string, root: string): string {
  if (path === root) return "the project";
  return printable(isWithin(path, root) ? path.slice(root.length + 1) : path);
}
