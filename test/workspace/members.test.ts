import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { openWorkspace } from "../../src/workspace/members.ts";
import { expandBraces } from "../../src/workspace/member-patterns.ts";
import { createProject, type Files } from "../support/project.ts";

async function pathsOf(files: Files, from = "."): Promise<string[]> {
  await using project = await createProject(files);
  return openWorkspace(project.join(from)).members.map(({ path }) => path);
}

const packages = (...paths: string[]): Files =>
  Object.fromEntries(paths.map((path) => [`${path}/package.json`, { name: path.replaceAll("/", "-") }]));

describe("openWorkspace()", () => {
  test("reads workspaces as a list and as an object", async () => {
    const files = packages("packages/a", "packages/b", "other/c");
    const expected = [".", "packages/a", "packages/b"];
    expect(await pathsOf({ "package.json": { workspaces: ["packages/*"] }, ...files })).toEqual(expected);
    expect(
      await pathsOf({ "package.json": { workspaces: { packages: ["./packages/*/"] } }, ...files }),
    ).toEqual(expected);
  });

  test("ignores an object without `packages` as a declaration", async () => {
    const files = {
      "package.json": { workspaces: { catalog: { left: "1.0.0" } } },
      ...packages("a", "b/c"),
    };
    expect(await pathsOf(files)).toEqual([".", "a", "b/c"]);
    const declared = { ...files, "pnpm-workspace.yaml": "packages: [a]\n" };
    expect(await pathsOf(declared, "a")).toEqual([".", "a"]);
  });

  test("reads patterns from pnpm-workspace.yaml", async () => {
    const files = {
      "package.json": {},
      "pnpm-workspace.yaml": "packages:\n  - 'packages/**'\n  - '!**/test/**'\n",
    };
    expect(await pathsOf({ ...files, ...packages("packages/a", "packages/a/b", "packages/test/x") })).toEqual(
      [".", "packages/a", "packages/a/b"],
    );
  });

  test("omits the packages that a negated pattern matches", async () => {
    const files = {
      "package.json": { workspaces: ["packages/*", "!packages/old"] },
      ...packages("packages/a", "packages/old"),
    };
    expect(await pathsOf(files)).toEqual([".", "packages/a"]);
  });

  test("follows patterns outside of the root, in upper case and with braces, but not into node_modules", async () => {
    const files = {
      "root/package.json": { workspaces: ["../shared", "Libs/*", "{apps,tools/deep}/*", "**/plugin"] },
      ...packages(
        "shared",
        "root/Libs/UI",
        "root/apps/web",
        "root/tools/deep/x",
        "root/a/plugin",
        "root/node_modules/m/plugin",
      ),
    };
    expect(await pathsOf(files, "root")).toEqual([
      ".",
      "../shared",
      "Libs/UI",
      "a/plugin",
      "apps/web",
      "tools/deep/x",
    ]);
  });

  test("lists a package behind symlinks once", async () => {
    await using project = await createProject({
      "package.json": { workspaces: ["packages/*", "links/*"] },
      ...packages("packages/a", "links/b"),
    });
    symlinkSync(project.join("packages/a"), project.join("links/a"));
    symlinkSync(project.path, project.join("packages/loop"));
    expect(openWorkspace(project.path).members.map(({ path }) => path)).toEqual([
      ".",
      "links/b",
      "packages/a",
    ]);
  });

  test("finds the workspace from a member, but not from a package that is not a member", async () => {
    const files = {
      "package.json": { workspaces: ["packages/*"] },
      "packages/a/src/x": "",
      ...packages("packages/a", "stranger"),
    };
    expect(await pathsOf(files, "packages/a/src")).toEqual([".", "packages/a"]);
    expect(await pathsOf(files, "stranger")).toEqual(["."]);
  });

  test("lists every package below the root when no members are declared", async () => {
    await using project = await createProject({
      ...packages("a", "b/c", "node_modules/x", "b/node_modules/y"),
    });
    const workspace = openWorkspace(project.path);
    expect(workspace.members.map(({ path }) => path)).toEqual(["a", "b/c"]);
    expect(workspace.isDeclared).toBe(false);
  });

  test("reports members that cannot be read and members that do not exist", async () => {
    await using project = await createProject({
      "package.json": { workspaces: ["packages/*", "gone"] },
      "packages/a/package.json": "{",
      "packages/empty/x": "",
    });
    const { broken, members } = openWorkspace(project.path);
    expect(members.map(({ path }) => path)).toEqual(["."]);
    expect(broken.map(({ message }) => message)).toEqual([
      `Cannot read ${project.join("packages/a/package.json")}:1:2: expected }, found the end of the file`,
      `Cannot read ${project.join("gone/package.json")}: the workspace lists it, but it does not exist`,
    ]);
  });

  test("reads package.json files that are long, contain comments or begin with a byte order mark", async () => {
    await using project = await createProject({
      "package.json": { workspaces: ["packages/*"] },
      "packages/commented/package.json": '{ "name": "commented", /* x */ }',
      "packages/directory/package.json/x": "",
      "packages/latin/package.json": new Uint8Array([
        ...Buffer.from('{ "name": "'),
        0xe4,
        ...Buffer.from('" }'),
      ]),
      "packages/long/package.json": { padding: "x".repeat(70_000), name: "long" },
      "packages/marked/package.json": '\ufeff{ "name": "marked" }',
      [`packages/${"x".repeat(255)}/package.json`]: { name: "x" },
    });
    const { members, broken } = openWorkspace(project.path);
    const names = members.map(({ name }) => name);
    expect(names).toEqual(["", "commented", "\ufffd", "long", "marked", "x"]);
    expect(broken.map(({ message }) => message)).toEqual([
      `Cannot read ${project.join("packages/directory/package.json")}: it is a directory`,
    ]);
  });

  test("ignores broken symlinks and follows symlinks to the outside", async () => {
    await using project = await createProject({
      "root/package.json": { workspaces: ["packages/*", "linked/pkg"] },
      ...packages("root/packages/a", "elsewhere/b", "other/pkg"),
    });
    for (const [target, name] of [
      ["nowhere", "broken"],
      ["loop", "loop"],
      ["a/package.json", "file"],
      ["../../elsewhere/b", "b"],
    ] as const)
      symlinkSync(target, project.join("root/packages", name));
    symlinkSync("../other", project.join("root/linked"));
    const { members, broken } = openWorkspace(project.join("root"));
    expect(members.map(({ path, directory }) => [path, directory])).toEqual([
      [".", project.join("root")],
      ["../elsewhere/b", project.join("elsewhere/b")],
      ["../other/pkg", project.join("other/pkg")],
      ["packages/a", project.join("root/packages/a")],
    ]);
    expect(broken).toEqual([]);
  });

  test("rejects a declaration that is not a list", async () => {
    await using odd = await createProject({ "package.json": { workspaces: "packages/*" } });
    expect(() => openWorkspace(odd.path)).toThrow(
      `Cannot use "workspaces" in ${odd.join("package.json")}: expected a list of path patterns`,
    );
  });
});

test.each([
  ["a", ["a"]],
  ["{a,b}/*", ["a/*", "b/*"]],
  ["x{a,b{c,d}}y", ["xay", "xbcy", "xbdy"]],
  ["{a", ["{a"]],
  ["{a}", ["a"]],
])("expandBraces(%j)", (pattern, expected) => {
  expect(expandBraces(pattern)).toEqual(expected);
});
