// Tool caches in node_modules and in the directory for temporary files are neither inputs nor outputs. Similar paths are
// both.
import { expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { createProject } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { CAN_TRACE, cachedCases, cachedProject, mapCases } from "../cached-project.ts";

const USER = process.getuid?.() ?? 0;
const IN_MODULES = [
  ...[".cache", ".vite", ".vite-temp", ".vitest-cache", ".experimental-vitest-cache"],
  ...[".modules.yaml", ".pnpm-workspace-state-v1.json"],
];
const TEMPORARY = [
  ...["node-compile-cache", "jiti", `jest_${USER.toString(36)}`, `tsx-${USER}`, `v8-compile-cache-${USER}`],
  ...["rt-links-1", "rt-files-1"],
];

/** A script that appends to its own output. */
const grow = (path: string) =>
  `mkdir -p ${path}/a && date +%s%N >> ${path}/a/b && cat ${path}/a/b > /dev/null`;

/** Runs a script for each path twice, after a run with --no-cache, and returns the outcomes of both. */
async function growIn(paths: readonly string[]): Promise<readonly Record<string, string>[]> {
  await using temporary = await createProject();
  await using project = await cachedCases(mapCases(table(paths), (path) => ({ script: grow(path) })));
  const env = { TMPDIR: temporary.path };
  await project.runAll(env, "--no-cache");
  const outcomes = [await project.runAll(env), await project.runAll(env)];
  const shorten = (each: string) => each.replace(/(?<=^t was not cached: it modified its own input) .*/s, "");
  return outcomes.map((each) => mapCases(each, shorten));
}

const table = (paths: readonly string[]) => Object.fromEntries(paths.map((path) => [path, path]));

test.skipIf(!CAN_TRACE)("a tool cache is neither input nor output", async () => {
  const paths = [
    ...IN_MODULES.flatMap((name) => [`node_modules/${name}`, `packages/a/node_modules/${name}`]),
    ...TEMPORARY.map((name) => `$TMPDIR/${name}`),
  ];
  const [ran, hit] = [mapCases(table(paths), () => "ran"), mapCases(table(paths), () => "hit")];
  expect(await growIn(paths)).toEqual([ran, hit]);
});

test.skipIf(!CAN_TRACE)("Vitest's random token of each user is not an input", async () => {
  await using data = await createProject({ "vitest/.vitest-secret-token": "one", "vitest/other": "one" });
  const script = `cat ${data.join("vitest")}/.vitest-secret-token ${data.join("vitest")}/other`;
  await using project = await cachedProject({ t: script });
  expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
  await data.write({ "vitest/.vitest-secret-token": "two" });
  expect(await project.run("t")).toBe("hit");
  await data.write({ "vitest/other": "two" });
  expect(await project.run("t")).toBe("ran");
});

/** Makes Vitest's token in a folder of the user. */
const makeToken = (folder: string) =>
  `mkdir -p $HOME/${folder}/vitest; echo 1 > $HOME/${folder}/vitest/.vitest-secret-token`;

test.skipIf(!CAN_TRACE)(
  "folders that a script makes for an ignored file count only with other files",
  async () => {
    await using one = await createProject();
    await using two = await createProject({ ".local/bin/tool": "" });
    await using project = await cachedCases({
      token: { script: makeToken(".local/share") },
      listed: { script: `${makeToken(".listed")}; ls -A $HOME/.listed/vitest` },
      more: { script: `${makeToken(".more")}; echo > $HOME/.more/a` },
    });
    const run = async (home: string) => {
      // The names of folders in TMPDIR count, and the home directories are in it.
      const outcomes = await project.runAll({ HOME: home, TMPDIR: undefined });
      return mapCases(outcomes, (each) => each.replaceAll(home, "~").split("; ")[0]);
    };
    const wrote = (path: string) => `t was not cached: it wrote ${path} outside the project`;
    const others = { listed: wrote("~/.listed/vitest"), more: wrote("~/.more/a") };
    expect(await run(one.path)).toEqual({ token: "ran", ...others });
    expect(await run(two.path)).toEqual({ token: "hit", ...others });
  },
);

const OTHERS = [
  ...["node_modules/.tmp", "node_modules/a/.cache", ".cache", "node_modules/.cached"],
  ...[`jest_${USER.toString(36)}x`, `tsx-${USER + 1}`, "tsx-a", "jest_", "node-compile-cache-2"].map(
    (name) => `$TMPDIR/${name}`,
  ),
  "$TMPDIR/a/node-compile-cache",
];

test.skipIf(!CAN_TRACE)("a path that resembles a tool cache is input and output", async () => {
  const rewritten = mapCases(table(OTHERS), () => "t was not cached: it modified its own input");
  expect(await growIn(OTHERS)).toEqual([rewritten, rewritten]);
});

test.skipIf(!CAN_TRACE).each(["node_modules/.cache/project", `tsx-${USER}/project`])(
  "a project inside a tool cache folder has inputs: %s",
  async (path) => {
    await using temporary = await createProject();
    await using outer = await cachedProject({});
    const directory = path.startsWith("node") ? outer.join(path) : temporary.join(path);
    await mkdir(directory, { recursive: true });
    const files = {
      "package.json": JSON.stringify({ name: "inner", scripts: { t: "cat input" } }),
      "rtfig.toml": "[run.cache]\nt = true\n",
      input: "one\n",
    };
    for (const [name, text] of Object.entries(files)) await Bun.write(`${directory}/${name}`, text);
    const env = { XDG_CACHE_HOME: outer.cache, TMPDIR: temporary.path };
    const run = async () => (await runRt({ args: ["run", "t"], cwd: directory, env })).stdout;
    expect(await run()).toBe("one\n");
    await Bun.write(`${directory}/input`, "two\n");
    expect(await run()).toBe("two\n");
  },
);

test.skipIf(!CAN_TRACE)("a script that runs npm is cached, in the first run of a user, too", async () => {
  await using home = await createProject();
  await using project = await cachedProject({ t: "npm run inner", inner: "echo made" }, {}, "t = true");
  const env = { HOME: home.path };
  expect([await project.run("t", env), await project.run("t", env)]).toEqual(["ran", "hit"]);
});
