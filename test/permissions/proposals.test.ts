// The entries that rt proposes for what a task needs.
import { expect, test } from "bun:test";
import type { RefusedCall } from "../../platform/permissions/contract/permissions.ts";
import { coverFolders } from "../../src/permissions/folder-cover.ts";
import { entryFor, isShared } from "../../src/permissions/table-entries.ts";
import { listWith, proposeTable } from "../../src/permissions/table-proposal.ts";

const BASE = { root: "/work/shop", packageDirectory: "/work/shop/packages/web", home: "/home/me" };

const call = (kind: RefusedCall["kind"], target: string, more: Partial<RefusedCall> = {}): RefusedCall => ({
  ...{ kind, target, pid: 1, program: "node" },
  ...more,
});

test.each<[call: RefusedCall, entry: string | undefined]>([
  [call("host", "192.0.2.1:443"), "192.0.2.1:443"],
  [call("host", "127.0.0.1:5432"), "localhost:*"],
  [call("host", "api.test:8443"), "api.test:8443"],
  [call("name", "api.test"), "api.test:443"],
  [call("private", "api.test"), "api.test:443"],
  [call("name", "not a host"), undefined],
  [call("socket", "/run/docker.sock"), "/run/docker.sock"],
  [call("abstract", "x"), undefined],
  [call("read", "/work/shop/data/a.txt"), "../../data/**"],
  [call("read", "/work/shop/packages/web/dist", { isFolder: true }), "dist/**"],
  [call("read", "/work/other/a.txt"), "../../../other/**"],
  [call("write", "/home/me/.npm/_logs/a"), "~/.npm/_logs/**"],
  [call("read", "/opt/tool/a"), "/opt/tool/**"],
  [call("write", "/tmp/x/1"), "/tmp/**"],
  [call("read", "/home/me/.netrc"), "~/.netrc"],
  [call("read", "/home/me/.config/tool"), "~/.config/tool"],
  [call("write", "/home/me/.netrc", { isNew: true }), undefined],
  [call("read", "/etc", { isFolder: true }), undefined],
])("of %j the entry is %p", (refused, entry) => {
  expect(entryFor(refused, BASE)?.entry).toBe(entry as string);
});

test("a folder is shared if it contains the project or HOME, and the folder of the project itself is not", () => {
  const shared = ["/", "/work", "/home", "/home/me", "/home/me/.local/share", "/etc", "/var/lib"];
  const others = ["/work/shop", "/work/shop/packages", "/home/me/.ssh", "/etc/ssl", "/home/you"];
  expect([...shared, ...others].filter((folder) => isShared(folder, BASE))).toEqual(shared);
});

test("a further entry replaces those within it, and a list that is absent begins with the default", () => {
  const add = (list: readonly string[] | undefined, key: "read" | "write" | "hosts", entry: string) =>
    listWith(list ? { [key]: list } : {}, { key, entry }, BASE);
  expect(add(["data/a/**", "data-2/**"], "read", "data/**")).toEqual(["data-2/**", "data/**"]);
  expect(add(["dist/**", "~/x/**", "../y/**"], "write", "./**")).toEqual(["~/x/**", "../y/**", "./**"]);
  expect(add(["dist/**"], "write", "dist/**")).toEqual(["dist/**"]);
  expect(add(undefined, "write", "/opt/x/**")).toEqual(["../../**", "/opt/x/**"]);
  expect(add(undefined, "read", "/opt/x/**")).toEqual(["/opt/x/**"]);
  expect(add(undefined, "hosts", "api.test:443")).toEqual(["localhost:*", "api.test:443"]);
  expect(add(["api.test:443"], "hosts", "*")).toEqual(["*"]);
  expect(add(["*"], "hosts", "api.test:443")).toEqual(["*"]);
});

test("folders are covered by the parent with most of them, as far as it may be covered", () => {
  const folders = ["/p/a/1", "/p/a/2", "/p/a/3", "/p/b/1", "/p/b/2", "/p/c", "/p/a/1/x", "/p/c-2"];
  const cover = (limit: number) =>
    coverFolders(folders, limit, (folder) => folder !== "/p" && folder !== "/");
  expect(cover(9)).toEqual(["/p/a/1", "/p/a/2", "/p/a/3", "/p/b/1", "/p/b/2", "/p/c", "/p/c-2"]);
  expect(cover(5)).toEqual(["/p/a", "/p/b/1", "/p/b/2", "/p/c", "/p/c-2"]);
  expect(cover(1)).toEqual(["/p/a", "/p/b", "/p/c", "/p/c-2"]);
});

test("a task without a table gets the folders that it writes, unless it writes to that of its package", () => {
  const write = (path: string, more: Partial<RefusedCall> = {}) =>
    call("write", `${BASE.packageDirectory}/${path}`, more);
  const propose = (calls: readonly RefusedCall[], table?: object) =>
    proposeTable({ table, base: BASE, calls });
  const dist = write("dist", { isFolder: true, isMade: true });
  expect(propose([dist, write("dist/a.js"), call("read", "/opt/x/a")])).toEqual({
    write: ["dist/**"],
    read: ["/opt/x/**"],
  });
  // A folder that is made only for those within it does not count.
  const made = write(".cache", { isFolder: true, isMade: true });
  expect(propose([made, write(".cache/tool/a")])).toEqual({ write: [".cache/tool/**"] });
  expect(propose([write(`.cache/${"0a".repeat(10)}/a`)])).toEqual({ write: [".cache/**"] });
  expect(propose([write("a.js")])).toEqual({});
  expect(propose([])).toEqual({ write: [] });
  expect(propose([write("out/a"), call("host", "api.test:443")], { write: ["dist/**"] })).toEqual({
    write: ["dist/**", "out/**"],
    hosts: ["localhost:*", "api.test:443"],
  });
});
