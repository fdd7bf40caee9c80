// `rt cache import turbo.json` writes [tasks] and [cache.remote].
import { expect, test } from "bun:test";
import { chmod, rm, stat, symlink } from "node:fs/promises";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { CAN_TRACE, cachedProject } from "./cached-project.ts";

const TURBO = `{
  // As people write it.
  "$schema": "https://turborepo.com/schema.json",
  "globalEnv": ["CI_KIND"],
  "globalDependencies": ["tsconfig.json"],
  "remoteCache": { "apiUrl": "https://cache.example.com", "teamSlug": "acme", "timeout": 10, "teamId": "team_1", "uploadTimeout": 20, "enabled": true, "preflight": true },
  "tasks": {
    "build": {
      "dependsOn": ["^build"],
      "inputs": ["$TURBO_DEFAULT$", "../schema/**", "!README.md", "$TURBO_ROOT$/all.json"],
      "outputs": ["dist/**", "!dist/cache/**"],
      "env": ["API_URL", "NEXT_PUBLIC_*", "!SECRET", "A*B"],
    },
    "web#build": { "outputs": [".next/**"], "passThroughEnv": ["HOME_PAGE"] },
    "test": { "dependsOn": ["build", "^lint", "$OLD"] },
    "dev": { "persistent": true },
    "shell": { "interactive": true, "cache": true },
    "watch": { "with": ["web#dev"], "siblings": ["dev"], "extends": false, "persistent": false, "interactive": false },
    "deploy": { "cache": false },
    "//#format": {},
  },
}`;

/** The keys of a task without settings. */
const CACHED = ["cache = true", 'env = ["CI_KIND"]', "outputs = []", ""];

test("rt cache import translates turbo.json, and names what has no equivalent", async () => {
  await using project = await createProject({
    "package.json": { name: "root" },
    "turbo.json": TURBO,
    "rtfig.toml": "smol = true",
  });
  const run = async (...args: string[]) =>
    await runRt({ args: ["cache", "import", ...args], cwd: project.path });
  await chmod(project.join("rtfig.toml"), 0o600);
  const { stdout, stderr, status } = await run("turbo.json");
  expect([stderr, status]).toEqual(["", 0]);
  expect((await stat(project.join("rtfig.toml"))).mode & 0o777).toBe(0o600);
  const text = await Bun.file(project.join("rtfig.toml")).text();
  expect(text).toBe(
    [
      "smol = true",
      "",
      "[tasks.build]",
      'depends-on = ["^build"]',
      "cache = true",
      'env = ["API_URL", "NEXT_PUBLIC_*", "CI_KIND"]',
      'inputs = ["../schema/**"]',
      'outputs = ["dist/**", "!dist/cache/**"]',
      'ignore = ["dist/cache/**"]',
      "",
      '[tasks."web#build"]',
      "depends-on = []",
      "cache = true",
      'env = ["HOME_PAGE", "CI_KIND"]',
      'outputs = [".next/**"]',
      "inputs = []",
      "ignore = []",
      "",
      "[tasks.test]",
      'depends-on = ["build", "^lint"]',
      ...CACHED,
      "[tasks.dev]",
      "depends-on = []",
      "cache = false",
      "",
      "[tasks.shell]",
      "depends-on = []",
      "cache = false",
      "",
      "[tasks.watch]",
      'depends-on = ["web#dev"]',
      ...CACHED,
      "[tasks.deploy]",
      "depends-on = []",
      "cache = false",
      "",
      '[tasks."//#format"]',
      "depends-on = []",
      ...CACHED,
      '[tasks."web#dev"]',
      "depends-on = []",
      "service = true",
      "",
      "[cache.remote]",
      'url = "https://cache.example.com"',
      'team = "acme"',
      "timeout = 10",
      'team-id = "team_1"',
      "upload-timeout = 20",
      "enabled = true",
      "",
    ].join("\n"),
  );
  const [first, ...notes] = stdout.trimEnd().split("\n");
  expect(first).toBe("Wrote [tasks] for 9 scripts to rtfig.toml");
  const about = [
    '"!SECRET", "A*B"',
    '"!README.md"',
    "$TURBO_ROOT$",
    "passThroughEnv",
    '"$OLD"',
    '"web#dev": it is a service, and "watch" starts when it listens',
    '"watch": "siblings" has no equivalent',
    '"watch": "extends" has no equivalent',
  ];
  for (const each of [...about, "remoteCache.preflight", "rt signs shared entries", "globalDependencies"])
    expect([each, notes.filter((note) => note.includes(each)).length]).toEqual([each, 1]);
  // The written file is valid, and a second import does not change it.
  expect((await runRt({ args: ["run"], cwd: project.path })).status).toBe(0);
  const again = await run("turbo.json");
  expect(again.stderr).toStartWith("error: rtfig.toml already has [tasks]\nhint: ");
  expect(await Bun.file(project.join("rtfig.toml")).text()).toBe(text);
  await project.write({ "turbo.json": "{" });
  expect((await run("turbo.json")).stderr).toStartWith("error: turbo.json cannot be read: ");
  await project.write({ "turbo.json": "[]" });
  expect((await run("turbo.json")).stderr).toStartWith("error: turbo.json is not an object\n");
  await project.write({ "turbo.json": '{ "extends": ["//"] }' });
  expect((await run("turbo.json")).stderr).toStartWith("error: turbo.json belongs to a package\n");
  await project.write({ "turbo.json": "{}" });
  expect((await run("turbo.json")).stderr).toBe(
    'error: turbo.json has no tasks: "tasks" is missing or empty\n' +
      "hint: rt run needs none; to cache scripts or to order them, write [tasks] in rtfig.toml (rt help import)\n",
  );
  expect((await run("moon.yml")).stderr).toStartWith(
    "error: rt cache import needs one turbo.json, nx.json or pnpm-workspace.yaml\n",
  );
  expect((await run("none/turbo.json")).stderr).toBe("error: none/turbo.json cannot be read: no such file\n");
});

test("rt cache import makes a service of a persistent task that another one has in `with`", async () => {
  const script = (name: string) => ({ name, scripts: { dev: "sleep 1000", watch: "true" } });
  await using project = await createProject({
    "package.json": { name: "root", workspaces: ["packages/*"], scripts: { mock: "sleep 1000" } },
    "turbo.json": {
      tasks: {
        dev: { persistent: true, dependsOn: ["^watch"] },
        watch: {},
        "web#dev": { persistent: true, with: ["api#dev", "watch", "//#mock", "none#dev"] },
        "api#dev": { persistent: true, with: ["web#dev"] },
        "lib#dev": { persistent: true, with: ["docs#dev"] },
        "//#mock": { persistent: true },
      },
    },
    "packages/web/package.json": script("web"),
    "packages/api/package.json": script("api"),
    "packages/lib/package.json": script("lib"),
    "packages/docs/package.json": script("docs"),
  });
  const { stdout, stderr } = await runRt({ args: ["cache", "import", "turbo.json"], cwd: project.path });
  expect(stderr).toBe("");
  const service = (name: string, dependsOn: readonly string[]) => [
    `[tasks."${name}"]`,
    `depends-on = ${tomlList(dependsOn)}`,
    "service = true",
    "",
  ];
  const plain = (name: string, dependsOn: readonly string[]) => [
    `[tasks.${name}]`,
    `depends-on = ${tomlList(dependsOn)}`,
    "cache = false",
    "",
  ];
  expect((await Bun.file(project.join("rtfig.toml")).text()).split("\n")).toEqual([
    // No task needs it.
    ...plain("dev", ["^watch"]),
    ...["[tasks.watch]", "depends-on = []", "cache = true", "outputs = []", ""],
    ...plain('"web#dev"', ["api#dev", "//#mock"]),
    ...service("api#dev", []),
    ...plain('"lib#dev"', ["docs#dev"]),
    ...service("//#mock", []),
    ...service("docs#dev", ["^watch"]),
  ]);
  const starts = (name: string, task: string) =>
    `  "${name}": it is a service, and "${task}" starts when it listens; if it does not listen, set ready (rt help services)`;
  expect(stdout.trimEnd().split("\n")).toEqual([
    "Wrote [tasks] for 7 scripts to rtfig.toml",
    "Not imported, or different:",
    starts("api#dev", "web#dev"),
    '  "web#dev": "with" has "watch", which is not persistent; run both: rt run --parallel',
    starts("//#mock", "web#dev"),
    starts("none#dev", "web#dev"),
    '  "api#dev": "with" has "web#dev", which depends on it already',
    starts("docs#dev", "lib#dev"),
    '  "none#dev": no package has such a script',
    '  "web#dev": no package has "none#dev" of dependsOn',
  ]);
});

function tomlList(words: readonly string[]): string {
  return `[${words.map((word) => `"${word}"`).join(", ")}]`;
}

test("rt cache import translates the tasks of pnpm-workspace.yaml", async () => {
  await using project = await createProject({
    "package.json": { name: "root" },
    "pnpm-workspace.yaml": `packages: ["packages/*"]
catalog: { react: ^19.0.0 }
tasks:
  build: { dependsOn: ["^build"], outputs: ["dist/**"], env: [API_URL], inputs: ["!README.md", "src/**"] }
  test: { dependsOn: [build, gone], inputs: ["src/**"] }
  lint: { outputs: [], cache: false, concurrency: 1, priority: 3 }
  migrate: { concurrencyGroup: database }
  e2e: { outputs: [], concurrency: 2, concurrencyGroup: browsers }
  typo: {}
concurrencyGroups: { database: 1, browsers: 4 }
pipelines: { default: [build, test] }
remoteCache: { server: "https://cache.example.com" }
`,
    "packages/web/package.json": {
      name: "web",
      scripts: { build: "b", test: "t", lint: "l", migrate: "m", e2e: "e" },
    },
  });
  const run = async () =>
    await runRt({ args: ["cache", "import", "pnpm-workspace.yaml"], cwd: project.path });
  const { stdout, stderr } = await run();
  expect(stderr).toBe("");
  expect((await Bun.file(project.join("rtfig.toml")).text()).split("\n")).toEqual([
    "[tasks.build]",
    'depends-on = ["^build"]',
    "cache = true",
    'env = ["API_URL"]',
    'inputs = ["src/**"]',
    'outputs = ["dist/**"]',
    "",
    "[tasks.test]",
    'depends-on = ["build"]',
    "cache = false",
    "",
    "[tasks.lint]",
    "depends-on = []",
    'lock = "lint"',
    "cache = false",
    "",
    "[tasks.migrate]",
    "depends-on = []",
    'lock = "database"',
    "cache = false",
    "",
    "[tasks.e2e]",
    "depends-on = []",
    "cache = true",
    "outputs = []",
    "",
  ]);
  const lock = "a lock allows one task at a time; limit all with rt run --concurrency";
  expect(stdout.trimEnd().split("\n")).toEqual([
    "Wrote [tasks] for 5 scripts to rtfig.toml",
    "Not imported, or different:",
    '  "build": excluded inputs ("!README.md"): every file that the script reads is an input; add exceptions to ignore',
    '  "lint": "priority" has no equivalent in rtfig.toml',
    `  "e2e": concurrencyGroup "browsers": ${lock}`,
    `  "e2e": concurrency 2: ${lock}`,
    `  the pipeline "default": rt run --filter '*' --affected build test`,
    "  remoteCache: set up a shared cache by [cache.remote] (rt help shared-cache)",
    '  "typo": no package has such a script',
    '  "test": no package has "gone" of dependsOn',
  ]);
  expect(
    (await runRt({ args: ["run", "--workspaces", "--dry-run", "test"], cwd: project.path })).stdout,
  ).toContain("web test (after web build)\n");
  await rm(project.join("rtfig.toml"));
  await project.write({
    "pnpm-workspace.yaml": 'packages: ["packages/*"]\ntasks: { deploy: {}, typo: {} }\n',
  });
  expect((await run()).stderr).toBe(
    'error: No package has a script for the tasks of pnpm-workspace.yaml: "deploy", "typo"\n' +
      "hint: check that package.json lists the packages in workspaces, and that they have these scripts\n",
  );
});

/** A cached task as it is written. */
function row(name: string, dependsOn: readonly string[], ...more: readonly string[]): string[] {
  const key = name.includes("#") ? JSON.stringify(name) : name;
  return [`[tasks.${key}]`, `depends-on = ${JSON.stringify(dependsOn)}`, "cache = true", ...more, ""];
}

const PACKAGES = {
  "package.json": { name: "root", workspaces: ["packages/*"] },
  "turbo.json": {
    globalEnv: ["CI_KIND"],
    tasks: {
      build: { dependsOn: ["codegen"], outputs: ["dist/**"], env: ["URL"] },
      deploy: {},
      lint: {},
      "web#test": { outputs: ["report"] },
      "lib#lint": { env: ["OLD"] },
    },
  },
  "packages/web/package.json": {
    name: "web",
    scripts: { deploy: "echo deployed", build: "b", test: "t", codegen: "c" },
  },
  "packages/web/turbo.json": `{
    // Of this package.
    "extends": ["//"],
    "tags": ["app"],
    "tasks": {
      "deploy": { "cache": false },
      "build": { "env": ["API", "$TURBO_EXTENDS$"], "outputs": ["out/**"], "dependsOn": ["$TURBO_EXTENDS$"] },
      "test": { "env": ["LEVEL"] },
      "lib#build": {},
    },
  }`,
  "packages/lib/package.json": { name: "lib", scripts: { build: "b", deploy: "d", lint: "l", test: "t" } },
  "packages/lib/turbo.jsonc": {
    extends: ["//", "web", "none"],
    globalEnv: ["X"],
    tasks: {
      build: { inputs: ["a"], outputs: ["$TURBO_EXTENDS$", "more/**"] },
      lint: { extends: false, outputs: ["$TURBO_EXTENDS$", "o"] },
      deploy: { extends: false },
    },
  },
  "packages/bare/package.json": {},
  "packages/bare/turbo.json": { tasks: { build: { cache: false } } },
  "packages/plain/package.json": { name: "plain" },
};

test("rt cache import translates the turbo.json of packages, with inherited settings", async () => {
  await using project = await createProject(PACKAGES);
  const run = async (...args: string[]) =>
    await runRt({ args, cwd: project.path, env: { XDG_CACHE_HOME: project.join("cache") } });
  const refused = await run("cache", "import", "packages/web/turbo.json");
  expect([refused.stderr, refused.status]).toEqual([
    "error: packages/web/turbo.json belongs to a package\n" +
      "hint: name the turbo.json of the root: the import includes those of packages\n",
    1,
  ]);
  // A turbo.json without "extends" is recognized as a package's file as well.
  expect((await run("cache", "import", "packages/bare/turbo.json")).stderr).toStartWith(
    "error: packages/bare/turbo.json belongs to a package\n",
  );
  expect(await Bun.file(project.join("rtfig.toml")).exists()).toBe(false);
  const { stdout, stderr } = await run("cache", "import", "turbo.json");
  expect(stderr).toBe("");
  expect(await Bun.file(project.join("rtfig.toml")).text()).toBe(
    [
      ...row("build", ["codegen"], 'env = ["URL", "CI_KIND"]', 'outputs = ["dist/**"]'),
      ...row("deploy", [], 'env = ["CI_KIND"]', "outputs = []"),
      ...row("lint", [], 'env = ["CI_KIND"]', "outputs = []"),
      '[tasks."lib#deploy"]',
      "cache = false",
      "",
      ...row(
        "lib#build",
        ["codegen"],
        ...['env = ["URL", "API", "CI_KIND"]', 'inputs = ["a"]', 'outputs = ["out/**", "more/**"]'],
      ),
      ...row("lib#test", [], 'env = ["LEVEL", "CI_KIND"]', "outputs = []"),
      ...row("lib#lint", [], 'env = ["CI_KIND"]', 'outputs = ["o"]'),
      '[tasks."web#deploy"]',
      "depends-on = []",
      "cache = false",
      "",
      ...row("web#build", ["codegen"], 'env = ["URL", "API", "CI_KIND"]', 'outputs = ["out/**"]'),
      ...row("web#test", [], 'env = ["LEVEL", "CI_KIND"]', 'outputs = ["report"]'),
    ].join("\n"),
  );
  expect(stdout.split("\n").map((line) => line.trim().split(", as in")[0])).toEqual([
    "Wrote [tasks] for 10 scripts to rtfig.toml",
    "Not imported, or different:",
    '"lib#deploy": turbo excludes it there, but rt runs every script of a package: remove it from package.json',
    'packages/bare/turbo.json: "extends": ["//"] is missing; rt assumes it',
    'packages/bare/turbo.json: its package.json has no name; give it one, and write "<name>#<script>"',
    '"globalEnv" in packages/lib/turbo.jsonc: turbo allows this key only in the turbo.json of the root',
    'packages/lib/turbo.jsonc extends "none", which is not a package with a turbo.json',
    '"lib#build" in packages/web/turbo.json: only the turbo.json of the root can name packages',
    "",
  ]);
  // A task that turbo does not cache runs each time.
  for (const _ of [1, 2])
    expect((await run("run", "--filter", "web", "deploy")).stdout).not.toContain("Cached (saved");
  await rm(project.join("rtfig.toml"));
  await project.write({ "packages/plain/turbo.json": "{", "packages/plain/turbo.jsonc": "{}" });
  expect((await run("cache", "import", "turbo.json")).stderr).toStartWith(
    "error: packages/plain has turbo.json and turbo.jsonc\n",
  );
  await rm(project.join("packages/plain/turbo.jsonc"));
  expect((await run("cache", "import", "turbo.json")).stderr).toContain("plain/turbo.json cannot be read: ");
  expect(await Bun.file(project.join("rtfig.toml")).exists()).toBe(false);
});

test.skipIf(!CAN_TRACE)(
  "rt cache import makes rt ignore a tool's cache inside the outputs, but no source",
  async () => {
    const script =
      "mkdir -p out/cache out/made; cat src/page out/cache/state > out/page 2> /dev/null; date +%N > out/cache/state; true";
    await using project = await cachedProject(
      { build: script },
      {
        "src/page": "1",
        "out/cache/state": "0",
        "turbo.json": {
          tasks: { build: { outputs: ["out/**", "!out/cache/**", "!src/**", "!out/made/**"] } },
        },
      },
    );
    await Bun.file(project.join("rtfig.toml")).delete();
    await project.rt(["cache", "import", "turbo.json"]);
    expect(await Bun.file(project.join("rtfig.toml")).text()).toEndWith('ignore = ["out/cache/**"]\n');
    expect([await project.run("build"), await project.run("build")]).toEqual(["ran", "hit"]);
    await project.write({ "src/page": "2" });
    expect(await project.run("build")).toBe("ran");
  },
);

test.skipIf(!CAN_TRACE)("an imported configuration takes effect", async () => {
  const turbo = { tasks: { build: { outputs: ["out"] }, dev: { cache: false } } };
  await using project = await cachedProject(
    { build: "cat page > out", dev: "cat page" },
    { page: "1", "turbo.json": turbo },
  );
  await Bun.file(project.join("rtfig.toml")).delete();
  expect((await project.rt(["cache", "import", "turbo.json"])).stdout).not.toContain(
    "Not imported, or different",
  );
  expect([await project.run("build"), await project.run("build")]).toEqual(["ran", "hit"]);
  expect([await project.run("dev"), await project.run("dev")]).toEqual(["ran", "ran"]);
});

test.skipIf(process.platform !== "linux")(
  "rt cache import refuses a turbo.json that is a pipe or a device without end",
  async () => {
    await using project = await createProject({ "package.json": { name: "root" } });
    const run = async () => await runRt({ args: ["cache", "import", "turbo.json"], cwd: project.path });
    const refused = (why: string) => ({
      stdout: "",
      stderr: `error: turbo.json cannot be read: ${why}\n`,
      status: 1,
    });
    await Bun.$`mkfifo ${project.join("turbo.json")}`;
    expect(await run()).toEqual(refused("JSONC Parse error: Unexpected end of input"));
    await rm(project.join("turbo.json"));
    await symlink("/dev/zero", project.join("turbo.json"));
    expect(await run()).toEqual(refused("it is larger than 1 MiB"));
    expect(await Bun.file(project.join("rtfig.toml")).exists()).toBe(false);
  },
);

test("the order of an imported configuration is turbo's", async () => {
  await using project = await createProject({
    "package.json": { name: "root", workspaces: ["packages/*"] },
    "turbo.json": {
      tasks: { build: { dependsOn: ["^build"] }, test: { dependsOn: ["build"], cache: false }, lint: {} },
    },
    "packages/web/package.json": {
      name: "web",
      dependencies: { lib: "*" },
      scripts: { build: "true", test: "true", lint: "true" },
    },
    "packages/lib/package.json": { name: "lib", scripts: { build: "true", lint: "true" } },
  });
  const run = async (...args: string[]) => (await runRt({ args, cwd: project.path })).stdout;
  expect(await run("cache", "import", "turbo.json")).not.toContain("Not imported, or different");
  const plan = await run("run", "--filter=web...", "--dry-run=json", "test", "lint");
  const { tasks } = JSON.parse(plan) as { tasks: { label: string; waitsFor: string[] }[] };
  expect(tasks.map(({ label, waitsFor }) => [label, ...waitsFor])).toEqual([
    ["lib lint"],
    ["lib build"],
    ["web lint"],
    ["web build", "lib build"],
    ["web test", "web build"],
  ]);
});

test("rt cache import keeps root scripts that start turbo, nx or pnpm out of the rows for all packages", async () => {
  const workspace = (program: string) => ({
    "package.json": {
      workspaces: ["packages/*"],
      scripts: { build: `${program} build`, lint: `CI=1 ${program} lint`, test: "true", format: "true" },
    },
    "packages/web/package.json": {
      name: "web",
      scripts: { build: "echo built", lint: "echo linted", test: "true" },
    },
  });
  const tasks = { build: {}, lint: { dependsOn: ["build"] }, test: { dependsOn: ["^build"] }, format: {} };
  const reset = (name: string) => ({ [`//#${name}`]: { "depends-on": [], cache: false } });
  const note = (program: string) =>
    `  "build", "lint" of the root's package.json: start rt instead of ${program}, as in "rt run --filter '*' build"`;
  await using project = await createProject({ ...workspace("turbo run"), "turbo.json": { tasks } });
  const run = async (...args: string[]) => await runRt({ args, cwd: project.path });
  const readTasks = async () =>
    Bun.TOML.parse(await Bun.file(project.join("rtfig.toml")).text()) as { tasks: Record<string, unknown> };
  expect((await run("cache", "import", "turbo.json")).stdout.trimEnd().split("\n")).toEqual([
    "Wrote [tasks] for 3 scripts to rtfig.toml",
    "Not imported, or different:",
    '  "format": no package has such a script',
    note("turbo"),
  ]);
  expect((await readTasks()).tasks).toMatchObject({ ...reset("build"), ...reset("lint"), ...reset("test") });
  await project.write({ "package.json": workspace("rt run --filter web")["package.json"] });
  const { tasks: planned } = JSON.parse((await run("run", "--dry-run=json", "lint")).stdout) as {
    tasks: { label: string }[];
  };
  expect(planned.map(({ label }) => label)).toEqual(["lint"]);

  await rm(project.join("rtfig.toml"));
  // Inputs of the root give each package its own row.
  const inputs = ["{workspaceRoot}/base.json"];
  const targetDefaults = { build: { cache: true, inputs }, lint: { dependsOn: ["build"] }, test: {} };
  await project.write({ ...workspace("nx run-many -t"), "nx.json": { targetDefaults } });
  expect((await run("cache", "import", "nx.json")).stdout).toContain(`\n${note("nx")}\n`);
  const { tasks: ofNx } = await readTasks();
  expect([ofNx["//#build"], ofNx["//#lint"]]).toEqual(Object.values({ ...reset("build"), ...reset("lint") }));
  expect(ofNx).not.toHaveProperty("//#test");

  await rm(project.join("rtfig.toml"));
  const ofPnpm = { tasks: { build: { outputs: ["dist/**"] }, lint: { dependsOn: ["build"] } } };
  const yaml = Bun.YAML.stringify({ packages: ["packages/*"], ...ofPnpm });
  await project.write({ ...workspace("pnpm -r run"), "pnpm-workspace.yaml": yaml });
  expect((await run("cache", "import", "pnpm-workspace.yaml")).stdout).toContain(`\n${note("pnpm")}\n`);
  expect((await readTasks()).tasks).toMatchObject({ ...reset("build"), ...reset("lint") });
});

test("rt cache import leaves out what no package has, so that every script can be run", async () => {
  await using project = await createProject({
    "package.json": { name: "root", workspaces: ["packages/*"], scripts: { env: "true" } },
    "turbo.json": {
      tasks: {
        build: { dependsOn: ["^build", "//#env", "none"] },
        check: { dependsOn: ["transit", "web#build", "gone#build", "web#none"] },
        transit: { dependsOn: ["^transit"] },
        topo: { dependsOn: ["^topo"] },
        deploy: {},
        "gone#build": {},
        "//#env": {},
        "//#old": {},
      },
    },
    "packages/web/package.json": { name: "web", scripts: { build: "true", check: "true" } },
  });
  const run = async (...args: string[]) => await runRt({ args, cwd: project.path });
  expect((await run("cache", "import", "turbo.json")).stdout.trimEnd().split("\n")).toEqual([
    "Wrote [tasks] for 4 scripts to rtfig.toml",
    "Not imported, or different:",
    '  "topo", "deploy", "gone#build", "//#old": no package has such a script',
    '  "build": no package has "none" of dependsOn',
    '  "check": no package has "gone#build", "web#none" of dependsOn',
  ]);
  const plan = await run("run", "--dry-run=json", "--filter", "*", "check");
  const { tasks, warnings } = JSON.parse(plan.stdout) as { tasks: { label: string }[]; warnings: string[] };
  expect([plan.stderr, warnings]).toEqual(["", []]);
  expect(tasks.map(({ label }) => label)).toEqual(["root env", "web build", "web check"]);
});

test("rt cache import leaves out a task without a script and without dependencies, although others depend on it", async () => {
  await using project = await createProject({
    "package.json": { name: "root", workspaces: ["packages/*"] },
    "turbo.json": { tasks: { build: { dependsOn: ["leaf"] }, leaf: {} } },
    "packages/web/package.json": { name: "web", scripts: { build: "true" } },
  });
  const { stdout } = await runRt({ args: ["cache", "import", "turbo.json"], cwd: project.path });
  expect(stdout.trimEnd().split("\n")).toEqual([
    "Wrote [tasks] for 1 script to rtfig.toml",
    "Not imported, or different:",
    '  "leaf": no package has such a script',
    '  "build": no package has "leaf" of dependsOn',
  ]);
});
