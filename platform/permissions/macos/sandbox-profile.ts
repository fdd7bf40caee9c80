// Compiles the rules of a child to a profile of macOS's sandbox (SBPL). Pure.
//
// Invariants:
// - Everything is refused that no line allows. Of two lines that apply, the later one decides, so closed files come last.
// Non-obvious:
// - The sandbox compares paths without symlinks: /etc is /private/etc.
// - It knows no host names and no addresses: a remote host is "localhost" or "*".
// - The services of the keychain (SecurityServer, securityd) are not among the services that a child may look up.
import type { FileRule, HostRule, PermissionRules } from "../contract/permissions.ts";

/** Folders and files of the system that every program needs, besides those of the rules. */
const SYSTEM = ["/System", "/Library", "/Applications", "/private/etc", "/private/var/db/dyld"];
const CLOSED_SYSTEM = ["/Library/Keychains", "/private/etc/master.passwd", "/private/etc/sudoers"];
const DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/dtracehelper"];
/** For users, time zones and logging. */
const SERVICES = [
  ...["com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership"],
  ...["com.apple.system.logger", "com.apple.system.notification_center", "com.apple.logd"],
  ...["com.apple.bsd.dirhelper", "com.apple.trustd.agent"],
];
const RESOLVER = "/private/var/run/mDNSResponder";
const LOCAL_NAMES = ["localhost", "127.0.0.1", "::1"];
/** Names after `.env` that have no secrets. */
const EXAMPLES = "(example|sample|template|defaults|schema)";

/** Lines that do not depend on the rules. */
const BASE = [
  "(version 1)",
  "(deny default)",
  "(allow process-exec process-fork)",
  "(allow process-info* signal mach-priv-task-port (target same-sandbox))",
  "(allow sysctl-read)",
  "(allow ipc-posix-sem ipc-posix-shm)",
  "(allow pseudo-tty)",
  "(allow system-socket)",
  "(allow file-read-metadata)",
  `(allow file-read* ${["/", "/private/var/db/timezone", "/private/var/select"].map(literal).join(" ")})`,
  `(allow file-read* ${SYSTEM.map(subpath).join(" ")})`,
  `(allow file-read* file-write-data file-ioctl ${DEVICES.map(literal).join(" ")} (regex #"^/dev/ttys[0-9]+$"))`,
  `(allow mach-lookup ${SERVICES.map((name) => `(global-name ${quote(name)})`).join(" ")})`,
];

/** Returns the hosts that the sandbox cannot open alone. */
export function unenforcedHosts({ hosts }: PermissionRules): readonly HostRule[] {
  return hosts.filter(({ name }) => !LOCAL_NAMES.includes(name));
}

/** @param resolve returns a path without symlinks; undefined if it does not exist */
export function compileProfile(
  rules: PermissionRules,
  resolve: (path: string) => string | undefined,
): string {
  const { files, hidden, envFolders, home, sockets } = rules;
  return [
    ...BASE,
    ...files.flatMap((rule) => fileLine(rule, home, resolve)),
    ...networkLines(rules),
    ...line(
      "network-outbound",
      sockets.map((path) => `(remote unix-socket ${subpath(path)})`),
      "allow",
    ),
    ...line(
      "file-read* file-write*",
      [...CLOSED_SYSTEM, ...hidden.map((path) => resolve(path) ?? path)].map(subpath),
      "deny",
    ),
    ...line("file-read*", envFolders.map(envFilter), "deny"),
    "",
  ].join("\n");
}

function line(operation: string, filters: readonly string[], action: "allow" | "deny"): string[] {
  return filters.length > 0 ? [`(${action} ${operation} ${filters.join(" ")})`] : [];
}

function fileLine(
  { path, access, followsLinks }: FileRule,
  home: string,
  resolve: (path: string) => string | undefined,
): string[] {
  const target = resolve(path);
  if (target === undefined || (!followsLinks && target !== path)) return [];
  if (home === target || home.startsWith(target === "/" ? "/" : `${target}/`)) return [];
  if (access === "read") return [`(allow file-read* ${subpath(target)})`];
  if (access === "device") return [`(allow file-read* file-write-data file-ioctl ${literal(target)})`];
  return [`(allow file-read* file-write* ${subpath(target)})`];
}

function networkLines({ network, hosts }: PermissionRules): string[] {
  if (network === "open") return ["(allow network*)", `(allow network-outbound ${literal(RESOLVER)})`];
  const ports = hosts.filter(({ name }) => LOCAL_NAMES.includes(name)).map(({ port }) => port || "*");
  const remote = network === "loopback" ? ["*"] : [...new Set(ports)];
  return [
    "(allow network-bind network-inbound (local ip))",
    ...line(
      "network-outbound",
      remote.map((port) => `(remote ip "localhost:${port}")`),
      "allow",
    ),
  ];
}

/** `.env` files directly in a folder, without examples. A quotation mark would end the expression. */
function envFilter(folder: string): string {
  const start = `^${folder.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll('"', ".")}/\\.env`;
  const isExample = `(regex #"${start}\\.${EXAMPLES}$")`;
  return `(require-all (regex #"${start}(\\.[^/]+)?$") (require-not ${isExample}))`;
}

function subpath(path: string): string {
  return `(subpath ${quote(path)})`;
}

function literal(path: string): string {
  return `(literal ${quote(path)})`;
}

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
}
