// The profile for macOS's sandbox, as text: no Mac is needed to compile it, and none has run it here.
import { expect, test } from "bun:test";
import type { PermissionRules } from "../../platform/permissions/contract/permissions.ts";
import { startPermitted } from "../../platform/permissions/macos/permitted-child.ts";
import { compileProfile } from "../../platform/permissions/macos/sandbox-profile.ts";
import { supportOfMacos } from "../../platform/permissions/macos/support.ts";
import type { Child, ChildRequest } from "../../platform/processes/contract/process-tree.ts";
import { ABSENT } from "../support/rt.ts";

const LINKS: Readonly<Record<string, string | undefined>> = {
  "/etc": "/private/etc",
  "/proc": undefined,
  "/Users/ada/shop/link": "/Users/ada/.ssh",
  "/all": "/Users",
};
const resolve = (path: string) => (path in LINKS ? LINKS[path] : path);

const RULES: PermissionRules = {
  files: [
    { path: "/etc", access: "read", followsLinks: true },
    { path: "/proc", access: "read", followsLinks: true },
    { path: "/all", access: "read", followsLinks: true },
    { path: "/Users/ada/shop", access: "write", followsLinks: false },
    { path: "/Users/ada/shop/link", access: "write", followsLinks: false },
    { path: "/dev/ttys001", access: "device", followsLinks: false },
    { path: '/opt/with "quotes"', access: "read", followsLinks: true },
  ],
  hidden: ["/private/etc/ssh"],
  envFolders: ["/Users/ada/shop/packages/a.b"],
  home: "/Users/ada",
  sockets: ["/Users/ada/shop"],
  network: "loopback",
  hosts: [],
  isFirst: true,
};

/** The lines after those that all profiles have. */
function ownLines(changes: Partial<PermissionRules> = {}): string[] {
  const lines = compileProfile({ ...RULES, ...changes }, resolve).split("\n");
  return lines.slice(lines.findIndex((line) => line.startsWith("(allow mach-lookup")) + 1, -1);
}

test("a profile opens what the rules name, without symlinks, and closes hidden files last", () => {
  expect(ownLines()).toEqual([
    '(allow file-read* (subpath "/private/etc"))',
    '(allow file-read* file-write* (subpath "/Users/ada/shop"))',
    '(allow file-read* file-write-data file-ioctl (literal "/dev/ttys001"))',
    String.raw`(allow file-read* (subpath "/opt/with \"quotes\""))`,
    "(allow network-bind network-inbound (local ip))",
    '(allow network-outbound (remote ip "localhost:*"))',
    '(allow network-outbound (remote unix-socket (subpath "/Users/ada/shop")))',
    '(deny file-read* file-write* (subpath "/Library/Keychains") (subpath "/private/etc/master.passwd") (subpath "/private/etc/sudoers") (subpath "/private/etc/ssh"))',
    String.raw`(deny file-read* (require-all (regex #"^/Users/ada/shop/packages/a\.b/\.env(\.[^/]+)?$") (require-not (regex #"^/Users/ada/shop/packages/a\.b/\.env\.(example|sample|template|defaults|schema)$"))))`,
  ]);
});

test("everything else is refused, above all the services of the keychain", () => {
  const profile = compileProfile(RULES, resolve);
  expect(profile).toStartWith("(version 1)\n(deny default)\n");
  expect(profile).not.toMatch(
    /security|keychaind|\(allow (?:default|mach-lookup\)|file-read\* file-write\*\))/i,
  );
  expect(profile).toContain("(target same-sandbox)");
});

test.each([
  ["none", [], []],
  ["none", [{ name: "localhost", port: 5432 }], ['(allow network-outbound (remote ip "localhost:5432"))']],
  ["loopback", [], ['(allow network-outbound (remote ip "localhost:*"))']],
  ["open", [], ["(allow network*)", '(allow network-outbound (literal "/private/var/run/mDNSResponder"))']],
] as const)("the network %s with the hosts %j", (network, hosts, expected) => {
  const lines = ownLines({ network, hosts, sockets: [] });
  expect(lines.filter((line) => /network(?:-outbound|\*)/.test(line))).toEqual([...expected]);
});

test("the program runs below sandbox-exec, but a nested one keeps the sandbox that it has", () => {
  const started: ChildRequest[] = [];
  const start = (request: ChildRequest): Child => {
    started.push(request);
    return {} as Child;
  };
  const permissions = { rules: RULES, variables: { TMPDIR: "/private/t" }, onRefusal() {} };
  const request: ChildRequest = {
    ...{ program: undefined, argv: ["sh", "-c", "exit"], cwd: "/", env: { PATH: "/bin" } },
    ...{ output: "merged", inheritStdin: false, permissions, onOutput() {} },
  };
  startPermitted(request, start, false);
  startPermitted(request, start, true);
  const [outer, nested] = started.map(({ program, argv, env }) => ({ program, argv, env }));
  expect(outer).toEqual({
    program: "/usr/bin/sandbox-exec",
    argv: ["/usr/bin/sandbox-exec", "-p", expect.stringContaining("(deny default)"), "/bin/sh", "-c", "exit"],
    env: { PATH: "/bin", TMPDIR: "/private/t" },
  });
  expect(nested).toEqual({
    program: undefined,
    argv: ["sh", "-c", "exit"],
    env: { PATH: "/bin", TMPDIR: "/private/t" },
  });
  const named = { ...permissions, rules: { ...RULES, hosts: [{ name: "api.acme.com", port: 443 }] } };
  expect(() => startPermitted({ ...request, permissions: named }, start, false)).toThrow(
    "the sandbox of macOS cannot open single hosts, such as api.acme.com",
  );
});

test("macOS without sandbox-exec cannot enforce permissions", () => {
  expect(supportOfMacos(ABSENT).obstacle).toBe(`${ABSENT} is missing`);
  expect(supportOfMacos("/bin/sh")).toEqual({
    missing: ["reports of refusals", "processes that a task leaves behind"],
  });
});
