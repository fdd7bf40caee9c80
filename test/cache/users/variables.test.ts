// The decision about each variable of a cached script.
import { expect, test } from "bun:test";
import {
  cachedEnvironment,
  countedVariables,
  isColored,
  passedValues,
} from "../../../src/cache/key/environment.ts";
import { configurationFiles, findReaders, readsVariable } from "../../../src/cache/key/variable-readers.ts";
import { VARIABLES, variableRow } from "../../../src/cache/key/variables.ts";
import { createProject } from "../../support/project.ts";

const ROOT = "/srv/shop";
const given = {
  PATH: "/bin",
  HOME: "/home/me",
  USER: "me",
  CI: "true",
  TERM: "dumb",
  LANG: "de_DE.UTF-8",
  LC_ALL: "C",
  API: "x",
};

test("a cached script gets fixed values, folders of its user, and no variable of its session", () => {
  const { variables, withheld } = cachedEnvironment(given, given, [], ROOT);
  expect(variables).toEqual({
    ...{ PATH: "/bin", HOME: "/home/me", TERM: "xterm-256color", SHELL: "/bin/sh", LANG: "C.UTF-8" },
    ...{ SHLVL: "1", INIT_CWD: ROOT, RT_TRACED: "1" },
    ...{ NO_UPDATE_NOTIFIER: "1", npm_config_update_notifier: "false" },
  });
  expect(withheld.toSorted()).toEqual(["API", "CI", "LANG", "LC_ALL", "TERM", "USER"]);
});

test("a declared variable is passed as it is and counts, also one with a fixed value", () => {
  const declared = ["TERM", "CI", "HOME", "A*"];
  const { variables } = cachedEnvironment(given, given, declared, ROOT);
  expect(variables).toMatchObject({ TERM: "dumb", CI: "true", API: "x" });
  const counted = countedVariables(variables, declared, true).map(([name]) => name);
  const fixed = ["INIT_CWD", "LANG", "NO_UPDATE_NOTIFIER", "SHELL", "SHLVL", "npm_config_update_notifier"];
  expect(counted).toEqual(["API", "CI", "HOME", "TERM", ...fixed].toSorted());
});

test("PATH counts only without tracing, and HOME only if it is too short to be found in outputs", () => {
  const { variables } = cachedEnvironment(given, given, [], ROOT);
  const names = (isTraced: boolean) => countedVariables(variables, [], isTraced).map(([name]) => name);
  expect(names(false)).toContain("PATH");
  expect(names(true)).not.toContain("PATH");
  expect(names(false)).not.toContain("HOME");
  expect(countedVariables({ HOME: "/me", NO_COLOR: "1" }, [], true)).toEqual([["HOME", "/me"]]);
});

test("values are looked for in outputs if a script has them without declaring them, that of HOME first", () => {
  const inner = { ...given, RT_SCRIPTS: "build in /srv/shop" };
  const sought = (declared: readonly string[], more: Readonly<Record<string, string>> = inner) =>
    Object.entries(passedValues(more, declared));
  const [home, path] = [
    ["HOME", "/home/me"],
    ["PATH", "/bin"],
  ];
  expect(sought([])).toEqual([home, path] as [string, string][]);
  expect(sought(["HOME"])).toEqual([path] as [string, string][]);
  expect(sought([], { PATH: "/bin" })).toEqual([path] as [string, string][]);
});

test("variables of rt count with env = ['*'] no more than without", () => {
  const inner = { ...given, RT_SCRIPTS: "build in /srv/shop" };
  const { variables } = cachedEnvironment(inner, inner, ["*"], ROOT);
  expect(countedVariables(variables, ["*"], true).map(([name]) => name)).not.toContain("RT_SCRIPTS");
  expect(variables.SHLVL).toBe("1");
});

test("the table of variables names each variable in one row before a prefix matches it", () => {
  for (const { names } of VARIABLES)
    for (const name of names) if (!name.endsWith("*")) expect(variableRow(name)!.names).toContain(name);
  for (const { reason } of VARIABLES) expect(reason).not.toEndWith(".");
});

test.each([
  ["process.env.CI ? 1 : 2", true],
  ['process.env["CI"]', true],
  ["import.meta.env?.CI", true],
  ["echo $CI", true],
  ["echo ${CI:-0}", true],
  ["echo $CIRCLE", false],
  ["a CI server", false],
  ["env.CITY", false],
])("the text %s reads the variable CI: %p", (text, expected) => {
  expect(readsVariable(text, "CI")).toBe(expected);
});

test("only configuration files of the project that were read are searched for variables", () => {
  const file = { kind: "file", size: 10, mode: 0o644, stamp: "", isFresh: false } as never;
  const read = (path: string) => ({ path, first: file, isRead: true }) as never;
  const paths = [
    "/srv/shop/vite.config.ts",
    "/srv/shop/src/a.ts",
    "/srv/shop/node_modules/x/a.config.js",
    "/etc/x.config.js",
  ];
  expect(configurationFiles(paths.map(read), (path) => path.startsWith(ROOT))).toEqual([paths[0]!]);
});

test("a variable is read by the first file that names it, and a file that cannot be read is skipped", async () => {
  await using project = await createProject({ "a.config.ts": "$API", "b.config.ts": "env.API env.CI" });
  const files = ["none.config.ts", "a.config.ts", "b.config.ts"].map((name) => project.join(name));
  expect(Object.fromEntries(findReaders(["API", "CI", "OTHER"], files))).toEqual({
    API: project.join("a.config.ts"),
    CI: project.join("b.config.ts"),
  });
});

test.each([
  [{ FORCE_COLOR: "1" }, true],
  [{ FORCE_COLOR: "0" }, false],
  [{ FORCE_COLOR: "" }, false],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false],
  [{}, false],
])("the variables %p make a script print colours to a pipe: %p", (variables, expected) => {
  expect(isColored(variables)).toBe(expected);
});
