// Entries that are used by another user: folders of the user, and programs in another PATH.
import { expect, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { statPath } from "../../../platform/files/path-state.ts";
import type { CacheEntry, RecordedDependency, StoredEntry } from "../../../src/cache/entry/entry.ts";
import { recordUser } from "../../../src/cache/relocation/recorded-user.ts";
import {
  countedFolders,
  userFoldersOf,
  withoutUserFolders,
} from "../../../src/cache/relocation/user-folders.ts";
import { relocateEntry, toPortableEntry } from "../../../src/cache/relocation/relocation.ts";
import { searchPathOf } from "../../../src/cache/relocation/search-path.ts";
import { findOtherProgram, recordPrograms } from "../../../src/cache/relocation/searched-programs.ts";
import { createProject } from "../../support/project.ts";

const HASH = "0".repeat(64);
const isMachinePath = () => false;

function stored(
  root: string,
  variables: Record<string, string>,
  conditions: readonly RecordedDependency[],
): StoredEntry {
  const entry: CacheEntry = {
    label: "t",
    created: 1,
    duration: 1,
    conditions,
    outputs: [],
    own: [],
    log: HASH,
  };
  return toPortableEntry(entry, root, userFoldersOf(variables), []);
}

function pathsFor(entry: StoredEntry, root: string, variables: Record<string, string>): string[] | undefined {
  const folders = userFoldersOf(variables);
  const searchPath = searchPathOf("", root, folders);
  return relocateEntry(entry, { root, folders, searchPath, isMachinePath })?.conditions.map(
    ([kind, path]) => `${kind} ${path}`,
  );
}

const ADA = { HOME: "/homes/ada" };
const DOT_FILES: readonly RecordedDependency[] = [
  ["absent", "/homes/ada/.toolrc"],
  ["file", "/homes/ada/.config/tool/a", HASH, 0o644],
  ["directory", "/homes/ada", 0o700],
  ["directory", "/homes", 0o755],
  ["file", "/etc/hosts", HASH, 0o644],
];

test("dependencies below the home directory apply to the home directory of another user", () => {
  const entry = stored("/srv/shop", ADA, DOT_FILES);
  expect(pathsFor(entry, "/srv/shop", { HOME: "/users/bob" })).toEqual([
    "absent /users/bob/.toolrc",
    "file /users/bob/.config/tool/a",
    "file /etc/hosts",
  ]);
  expect(pathsFor(entry, "/srv/shop", ADA)).toEqual(DOT_FILES.map(([kind, path]) => `${kind} ${path}`));
});

test("dependencies below .config apply to XDG_CONFIG_HOME", () => {
  const entry = stored("/srv/shop", { ...ADA, XDG_CONFIG_HOME: "/own" }, [["absent", "/own/tool"]]);
  const paths = pathsFor(entry, "/srv/shop", { HOME: "/users/bob", XDG_CONFIG_HOME: "/conf" });
  expect(paths).toEqual(["absent /conf/tool"]);
});

test("an entry with files of a home directory does not apply to a user without one", () => {
  const entry = stored("/srv/shop", ADA, DOT_FILES);
  for (const variables of [{ HOME: "" }, { HOME: "/" }, { HOME: "relative" }])
    expect(pathsFor(entry, "/srv/shop", variables)).toBeUndefined();
});

test.each<[text: string, replaced: string]>([
  ["/homes/ada/x", "\0~/x"],
  ["-I/homes/ada/include --out=/homes/ada", "-I\0~/include --out=\0~"],
  ["file:///homes/ada/x", "file://\0~/x"],
  [
    "/mnt/homes/ada/x lib/homes/ada /homes/adam /homes/ada.old",
    "/mnt/homes/ada/x lib/homes/ada /homes/adam /homes/ada.old",
  ],
])("in the cache key, HOME in %p does not count only where its path begins", (text, replaced) => {
  expect(withoutUserFolders(text, userFoldersOf(ADA))).toBe(replaced);
});

test("HOME counts where it leads to no folder, and another folder where it is not the default one", () => {
  const counted = (variables: Readonly<Record<string, string | undefined>>) =>
    countedFolders(variables, userFoldersOf(variables)).map(([name]) => name);
  const usual = { ...ADA, TMPDIR: "/tmp/", XDG_CACHE_HOME: "/homes/ada/.cache" };
  for (const variables of [ADA, usual]) expect(counted(variables)).toEqual([]);
  for (const variables of [{}, { HOME: "" }, { HOME: "/" }, { HOME: "/../.." }, { HOME: "me" }])
    expect(counted(variables)).toEqual(["HOME"]);
  expect(counted({ ...ADA, XDG_CACHE_HOME: "cache" })).toEqual(["XDG_CACHE_HOME"]);
  const cacheAt = (path: string) => {
    const variables = { ...ADA, XDG_CACHE_HOME: path };
    return countedFolders(variables, userFoldersOf(variables));
  };
  for (const path of ["/two", "/homes/ada/in"]) expect(cacheAt("/one")).toEqual(cacheAt(path));
  expect(cacheAt("/one")).not.toEqual(cacheAt("/homes/ada"));
  expect(cacheAt("/one")).not.toEqual(cacheAt("/homes"));
});

test("a result is bound to its user if the list of users was read, or a command prints the user", () => {
  const isBound = (condition: RecordedDependency, commands = "") =>
    "user" in recordUser([condition], commands);
  expect(isBound(["file", "/etc/passwd", HASH, 0o644])).toBe(true);
  expect(isBound(["absent", "/etc/group"])).toBe(true);
  expect(isBound(["file", "/usr/bin/id", HASH, 0o755])).toBe(true);
  expect(isBound(["absent", "/usr/local/bin/id"])).toBe(false);
  expect(isBound(["file", "/etc/hosts", HASH, 0o644], "echo $UID")).toBe(true);
  expect(isBound(["file", "/etc/hosts", HASH, 0o644], "echo $UIDS")).toBe(false);
});

test("a file of the project whose name begins with ~ stays in the project", () => {
  const entry = stored("/srv/shop", ADA, [["file", "/srv/shop/~/a", HASH, 0o644]]);
  expect(pathsFor(entry, "/srv/shop", { HOME: "/users/bob" })).toEqual(["file /srv/shop/~/a"]);
});

test("listings on the walk to a project apply to the folders above another checkout", () => {
  const names = (path: string, found: readonly string[] = []): RecordedDependency => [
    "names",
    path,
    found,
    [],
  ];
  const entry = stored("/a/b/shop", {}, [names("/a/b", ["fpackage.json"]), names("/a"), names("/")]);
  expect(pathsFor(entry, "/a/c/d/shop", {})).toEqual(["names /a/c/d", "names /a/c", "names /a", "names /"]);
});

test("a file that was searched in the folders above a project is searched in those above another checkout", () => {
  const searched = (path: string): RecordedDependency => ["absent", path];
  const entry = stored("/a/b/shop", {}, ["/a/b/.toolrc", "/a/.toolrc", "/.toolrc"].map(searched));
  const nowhere = ["/a/c/d/.toolrc", "/a/c/.toolrc", "/a/.toolrc", "/.toolrc"].map(
    (path) => `absent ${path}`,
  );
  expect(pathsFor(entry, "/a/c/d/shop", {})).toEqual(expect.arrayContaining(nowhere));
  // The search ended where the file was found.
  const found = stored("/a/b/shop", {}, [searched("/a/b/.toolrc"), ["file", "/a/.toolrc", HASH, 0o644]]);
  const paths = pathsFor(found, "/a/c/shop", {})!;
  expect(paths).toEqual(expect.arrayContaining(["absent /a/c/.toolrc", "file /a/.toolrc"]));
  expect(paths).not.toContain("absent /.toolrc");
});

test("another order of PATH is the same if each program is found in the same folder", async () => {
  await using project = await createProject({
    ...{ "a/tool": "", "b/tool": "", "b/other": "", "c/none": "" },
    ...{ "d/tool/no-program": "", "e/tool": "not executable" },
  });
  for (const each of ["a/tool", "b/tool", "b/other"]) await chmod(project.join(each), 0o755);
  const located = (...names: string[]) => {
    const [root, folders] = ["/srv/shop", userFoldersOf({})];
    const path = names.map((name) => project.join(name)).join(":");
    return { root, folders, searchPath: searchPathOf(path, root, folders) };
  };
  const view = { stat: statPath, resolve: (path: string) => path };
  const conditions: readonly RecordedDependency[] = [
    ["file", project.join("a/tool"), HASH, 0o755],
    ["absent", project.join("a/other")],
    ["absent", project.join("b/nowhere")],
    ["file", project.join("c/none"), HASH, 0o644],
  ];
  const programs = recordPrograms(conditions, located("a", "b"), view);
  const otherFor = (...names: string[]) => findOtherProgram(programs, located(...names), view);
  expect(programs.found.map(([name, path]) => [name, path && path.slice(project.path.length)])).toEqual([
    ["nowhere", null],
    ["other", "/b/other"],
    ["tool", "/a/tool"],
  ]);
  for (const same of [
    ["a", "b"],
    ["c", "a", "b"],
    ["a", "c", "b"],
    ["d", "e", "a", "b"],
  ])
    expect(otherFor(...same)).toBeUndefined();
  expect(otherFor("b", "a")).toContain("the program tool is ");
  expect(otherFor("a")).toContain("the program other is not in PATH");
  await project.write({ "c/nowhere": "" });
  await chmod(project.join("c/nowhere"), 0o755);
  expect(otherFor("a", "b", "c")).toContain("the program nowhere is ");
});
