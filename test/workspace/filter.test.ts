import { describe, expect, test } from "bun:test";
import { linkMembers } from "../../src/workspace/dependencies.ts";
import { selectMembers } from "../../src/workspace/filter.ts";
import type { MemberPackage, Workspace } from "../../src/workspace/members.ts";

// web -> ui -> core, api -> core; one package has no name
const layout: readonly [name: string, path: string, manifest: Record<string, unknown>][] = [
  ["root", ".", {}],
  ["@acme/api", "apps/api", { devDependencies: { core: "workspace:*" } }],
  ["", "apps/nameless", {}],
  ["web", "apps/web", { dependencies: { "@acme/ui": "1.0.0" } }],
  ["core", "libs/core", {}],
  ["@acme/ui", "libs/ui", { peerDependencies: { core: "*" } }],
];

const members: MemberPackage[] = layout.map(([name, path, manifest]) => ({
  name,
  path,
  manifest,
  directory: path === "." ? "/w" : `/w/${path}`,
  isRoot: path === ".",
}));
const workspace: Workspace = { root: "/w", isDeclared: true, members, broken: [] };

function select(filters: string[], from = "/w"): string[] {
  const { indices } = selectMembers(workspace, linkMembers(members), filters, from);
  return indices.map((index) => members[index]!.name || members[index]!.path);
}

const everything = ["@acme/api", "apps/nameless", "web", "core", "@acme/ui"];

describe("selectMembers()", () => {
  test.each<[string[], string[]]>([
    [["web"], ["web"]],
    [["*"], everything],
    [["**"], everything],
    [["w*"], ["web"]],
    [["*i"], []],
    [["***"], ["web", "core"]],
    [["@acme/*"], ["@acme/api", "@acme/ui"]],
    [["*/*"], ["@acme/api", "@acme/ui"]],
    [["root"], ["root"]],
    [["ro*"], []],
    [["./apps/*"], ["@acme/api", "apps/nameless", "web"]],
    [["./**"], everything],
    [["./apps"], []],
    [["/*"], []],
    [["{apps/we}"], []],
    [["./apps/web"], ["web"]],
    [["."], ["root"]],
    [["{apps}"], ["@acme/api", "apps/nameless", "web"]],
    [["{./libs/}"], ["core", "@acme/ui"]],
    [["@acme/*{apps}"], ["@acme/api"]],
    [["{apps/*}"], ["@acme/api", "apps/nameless", "web"]],
    [["{a*}"], ["@acme/api", "apps/nameless", "web"]],
    [["{**/ui}"], ["@acme/ui"]],
    [["{**}"], everything],
    [["@acme/*{l?bs}"], ["@acme/ui"]],
    [["{*/nothing}"], []],
    [["web..."], ["web", "core", "@acme/ui"]],
    [["web^..."], ["core", "@acme/ui"]],
    [["...core"], ["@acme/api", "web", "core", "@acme/ui"]],
    [["...^core"], ["@acme/api", "web", "@acme/ui"]],
    [["...@acme/ui..."], ["web", "core", "@acme/ui"]],
    [["./libs/ui..."], ["core", "@acme/ui"]],
    [["{libs}^..."], ["core"]],
    [["...^{libs}"], ["@acme/api", "web", "@acme/ui"]],
    [["...{libs}"], ["@acme/api", "web", "core", "@acme/ui"]],
    [
      ["web", "core"],
      ["web", "core"],
    ],
    [
      ["web...", "!core"],
      ["web", "@acme/ui"],
    ],
    [["!web"], ["@acme/api", "apps/nameless", "core", "@acme/ui"]],
    [["*", "!...core"], ["apps/nameless"]],
    [["!./apps/*"], ["core", "@acme/ui"]],
  ])("%j selects %j", (filters, expected) => {
    if (expected.length > 0) expect(select(filters)).toEqual(expected);
    else expect(() => select(filters)).toThrow(`No workspace packages matched the filter "${filters[0]}"`);
  });

  test("resolves paths against the current directory", () => {
    expect(select(["./*"], "/w/libs")).toEqual(["core", "@acme/ui"]);
    expect(select(["../apps/web"], "/w/libs")).toEqual(["web"]);
    expect(select(["."], "/w/libs/core")).toEqual(["core"]);
    expect(select(["{../a*/web}"], "/w/libs")).toEqual(["web"]);
  });

  test("treats special characters in the current directory literally", () => {
    const placed = (place: string) =>
      members.map((member) => ({ ...member, directory: member.directory.replace("/w", place) }));
    for (const place of ["/w[1]", "/w*", "/{w}", "/w?", "/!w"])
      for (const filter of ["./apps/w*", "{a*/web}"]) {
        const own = { ...workspace, root: place, members: placed(place) };
        const { indices } = selectMembers(own, linkMembers(own.members), [filter], place);
        expect([place, filter, indices]).toEqual([place, filter, [3]]);
      }
  });

  test('includes the dependencies of dependents for "...name..."', () => {
    const graph = [
      ["needed", {}],
      ["other", {}],
      ["user", { dependencies: { needed: "*", other: "*" } }],
      ["stranger", {}],
    ] as const;
    const all = graph.map(([name, manifest]): MemberPackage => ({
      name,
      manifest,
      path: name,
      directory: `/w/${name}`,
      isRoot: false,
    }));
    const { indices } = selectMembers(
      { root: "/w", isDeclared: true, members: all, broken: [] },
      linkMembers(all),
      ["...needed..."],
      "/w",
    );
    expect(indices.map((index) => all[index]!.name)).toEqual(["needed", "other", "user"]);
  });

  test("returns the filters that match nothing beside one that matches", () => {
    expect(selectMembers(workspace, linkMembers(members), ["web", "wbe"], "/w").unmatched).toEqual(["wbe"]);
  });

  test.each([
    ["wbe", 'did you mean "web"?'],
    ["ui", 'did you mean "@acme/ui"?'],
    ["zzzzzz", undefined],
    ["apps/web", "write a path with ./, as in ./apps/web"],
  ])("suggests for %j: %j", (filter, hint) => {
    let seen: unknown;
    try {
      select([filter]);
    } catch (error) {
      seen = (error as { hint?: string }).hint;
    }
    expect(seen).toBe(hint);
  });

  test("gives a hint once when several filters have the same", () => {
    expect(() => select(["wbe", "webb", "zzzzzz"])).toThrow(
      expect.objectContaining({ hint: 'did you mean "web"?' }),
    );
  });

  test("rejects a filter without a package", () => {
    expect(() => select(["..."])).toThrow('Filter "..." names no package');
  });
});

describe("linkMembers()", () => {
  const create = (specs: Record<string, unknown>): string[] => {
    const self: MemberPackage = {
      name: "self",
      path: "apps/self",
      directory: "/w/apps/self",
      manifest: { dependencies: specs },
      isRoot: false,
    };
    const all = [...members, self];
    return linkMembers(all)
      .edges(all.length - 1)
      .map((index) => all[index]!.name);
  };

  test.each<[Record<string, unknown>, string[]]>([
    [{ core: "^1.0.0" }, ["core"]],
    [{ alias: "npm:core@^1" }, ["core"]],
    [{ alias: "npm:@acme/ui@^1" }, ["@acme/ui"]],
    [{ alias: "workspace:@acme/ui@*" }, ["@acme/ui"]],
    [{ core: "npm:other@1" }, []],
    [{ anything: "file:../../libs/core" }, ["core"]],
    [{ anything: "link:../web" }, ["web"]],
    [{ anything: "workspace:../web" }, ["web"]],
    [{ core: "workspace:^" }, ["core"]],
    [{ self: "*", core: 1 }, []],
  ])("follows %j to %j", (specs, expected) => {
    expect(create(specs)).toEqual(expected);
  });
});
