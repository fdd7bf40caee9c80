// Keys of rtfig.toml for permissions of tasks. test/permissions has what a task can do with them.
import { expect } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { collectOptions } from "../../src/options/parse.ts";
import { parseConfig } from "../../src/config/rtfig.ts";
import { readInstallScripts } from "../../src/config/settings/install-scripts.ts";
import { wideningsOf } from "../../src/config/tasks/permission-table.ts";
import { InstallPermissions } from "../../src/permissions/install-permissions.ts";
import { effect } from "./effects.ts";

async function preview(toml: string): Promise<string> {
  const manifest = { name: "shop", scripts: { build: "echo" } };
  await using project = await createProject({ "package.json": manifest, "rtfig.toml": toml });
  return (await runRt({ args: ["run", "--dry-run", "build"], cwd: project.path })).stdout;
}

const table = (line: string) => preview(`[tasks.build.permissions]\n${line}\n`);

effect("tasks.*.permissions", "gives a task the defaults", async () => {
  expect(await preview("[tasks.build]\npermissions = true\n")).toContain(
    "  writes the project, its temporary",
  );
  expect(await preview("[tasks.build]\npermissions = false\n")).not.toContain("writes");
});

effect("tasks.*.permissions.read", "adds folders that it may read", async () => {
  expect(await table('read = ["/srv/data/**"]')).toContain("  reads /srv/data, the system, tools\n");
});

effect("tasks.*.permissions.write", "replaces the project by its folders", async () => {
  expect(await table('write = ["dist"]')).toContain("  writes dist, its temporary folder\n");
});

effect("tasks.*.permissions.hosts", "names hosts, or chooses between this host, all and none", async () => {
  expect(await table('hosts = ["*"]')).toContain("  connects to all hosts, sockets in the project\n");
  expect(await table('hosts = ["API.acme.com:443"]')).toContain("  connects to API.acme.com:443, sockets");
  expect(await table("hosts = []")).toContain("  connects to sockets in the project\n");
  const here = ["localhost:*", "127.0.0.1:8530", "[::1]:80"];
  const widening = ["localhost:853", "127.0.0.1:0853", "0.0.0.0:80", "localhost.acme.com:80"];
  expect(wideningsOf("build", { hosts: [...here, ...widening] })).toEqual(
    widening.map((entry) => `task build may connect to ${entry}`),
  );
});

effect("tasks.*.permissions.sockets", "adds sockets", async () => {
  expect(await table('sockets = ["/run/db"]')).toContain("sockets in the project, sockets in /run/db\n");
});

effect("permissions.default", "gives tasks without a row the defaults", async () => {
  expect(await preview("[permissions]\ndefault = true\n")).toContain("  writes the project, its temporary");
});

/** The permissions of the install script of `dep`. */
function ofInstallScript(line: string) {
  const config = parseConfig(`[install.permissions.dep]\n${line}\n`, "rtfig.toml");
  const table = readInstallScripts(config, collectOptions([]))!.rows.dep as object;
  const folder = "/srv/shop/node_modules/dep";
  return new InstallPermissions(
    { name: "dep", folder, table, event: "install" },
    { root: "/srv/shop", home: "/home/me", temporary: "/tmp/rt-1", path: "/usr/bin" },
  );
}

const accessOf = (line: string, path: string) =>
  ofInstallScript(line).rules.files.findLast((rule) => rule.path === path)?.access;

effect("install.permissions.*.read", "adds folders of the project that an install script may read", () => {
  expect(accessOf("", "/srv/shop/prisma")).toBeUndefined();
  expect(accessOf('read = ["prisma/**"]', "/srv/shop/prisma")).toBe("read");
});

effect("install.permissions.*.write", "adds folders to that of the package", () => {
  expect(accessOf('write = ["/srv/out"]', "/srv/out")).toBe("write");
  expect(accessOf('write = ["/srv/out"]', "/srv/shop/node_modules/dep")).toBe("write");
  expect(accessOf("", "/srv/shop/node_modules")).toBe("read");
});

effect("install.permissions.*.hosts", "opens the network, which is closed by default", () => {
  expect(ofInstallScript("").rules.network).toBe("none");
  expect(ofInstallScript('hosts = ["localhost:*"]').rules.network).toBe("loopback");
  expect(ofInstallScript('hosts = ["LocalHost.:*"]').rules.network).toBe("loopback");
  expect(() => ofInstallScript('hosts = ["x"]')).toThrow(
    'rtfig.toml:2: install.permissions.dep.hosts has "x"',
  );
});

effect("install.permissions.*.sockets", "adds sockets of an install script", () => {
  expect(ofInstallScript('sockets = ["/run/db"]').rules.sockets).toContain("/run/db");
});

effect("install.permissions.*.env", "passes variables on", () => {
  const given = { MIRROR: "mirror", NPM_TOKEN: "token" };
  expect(ofInstallScript('env = ["MIRROR"]').selectEnvironment(given, {})).toMatchObject({
    MIRROR: "mirror",
  });
  expect(Object.keys(ofInstallScript("").selectEnvironment(given, {}))).not.toContain("MIRROR");
  expect(Object.keys(ofInstallScript('env = ["MIRROR"]').selectEnvironment(given, {}))).not.toContain(
    "NPM_TOKEN",
  );
});

effect("install.permissions.*", "switches the permissions of one package off", () => {
  const config = parseConfig("[install.permissions]\ndep = false\n", "rtfig.toml");
  expect(readInstallScripts(config, collectOptions([]))!.rows).toEqual({ dep: false });
});

effect("install.permissions", "switches the permissions of all install scripts off", () => {
  const config = parseConfig("[install]\npermissions = false\n", "rtfig.toml");
  expect(readInstallScripts(config, collectOptions([]))).toMatchObject({ isOff: true });
  expect(readInstallScripts(undefined, collectOptions([]))).toMatchObject({ isOff: false });
});
