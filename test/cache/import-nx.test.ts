// `rt cache import nx.json` writes [tasks] from nx.json, project.json and package.json.
import { expect, test } from "bun:test";
import { chmodSync, chownSync } from "node:fs";
import { placeRt } from "../support/programs/programs.ts";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../support/users.ts";

const NX = {
  defaultBase: "main",
  nxCloudId: "abc",
  parallel: 4,
  generators: {},
  namedInputs: {
    default: ["{projectRoot}/**/*", "sharedGlobals"],
    sharedGlobals: ["{workspaceRoot}/tsconfig.base.json", { env: "MODE" }],
    production: ["default", "!{projectRoot}/**/*.spec.ts"],
  },
  targetDefaults: {
    build: {
      dependsOn: ["^build", "codegen"],
      inputs: ["production", "^production"],
      outputs: ["{projectRoot}/dist"],
      cache: true,
    },
    test: {
      dependsOn: ["build"],
      inputs: ["default", { runtime: "node -v" }, { externalDependencies: ["vitest"] }],
      outputs: ["{workspaceRoot}/coverage/{projectRoot}"],
      cache: true,
    },
    "@nx/eslint:lint": { cache: true },
    dev: { continuous: true },
    gone: { cache: true },
  },
  plugins: [{ plugin: "@nx/vite/plugin" }, "@nx/js"],
};

const WORKSPACE = {
  "package.json": { name: "root", workspaces: ["packages/*"], scripts: { format: "echo format" } },
  "nx.json": NX,
  "packages/lib/package.json": {
    name: "@acme/lib",
    scripts: { build: "echo lib", test: "echo t" },
    nx: { targets: { build: { outputs: ["{projectRoot}/old"] } } },
  },
  "packages/lib/project.json": {
    name: "lib",
    targets: {
      lint: { executor: "@nx/eslint:lint" },
      build: { outputs: ["{projectRoot}/lib"], dependsOn: ["...", "build-native"] },
      "build-native": {
        command: "echo native {projectRoot}",
        outputs: ["{options.outputPath}"],
        options: { outputPath: "dist/native" },
        cache: true,
      },
    },
  },
  "packages/web/package.json": {
    name: "web",
    scripts: { test: "echo t", dev: "echo dev" },
    dependencies: { "@acme/lib": "*" },
  },
  "packages/web/project.json": `{
    // nx allows comments.
    "name": "web-app",
    "implicitDependencies": ["lib"],
    "targets": {
      "build": {
        "executor": "nx:run-commands",
        "outputs": ["{workspaceRoot}/dist/{projectRoot}"],
        "options": {
          "commands": ["echo $MODE", { "command": "pwd" }],
          "parallel": false,
          "cwd": "{projectRoot}",
          "env": { "MODE": "a b" },
        },
        "configurations": { "production": {} },
      },
      "serve": { "executor": "nx:run-script", "options": { "script": "dev" }, "continuous": true },
      "e2e": {
        "executor": "nx:run-commands",
        "dependsOn": [
          { "target": "build", "projects": ["lib", "web-app"] },
          "lib:build-native",
          { "target": "test", "dependencies": true },
          "lint",
        ],
        "options": { "command": "pwd", "args": "--x" },
        "parallelism": false,
      },
      "all": { "executor": "nx:noop", "dependsOn": ["build", "test"] },
      "inferred": {},
    },
  }`,
  "libs/old/project.json": { name: "old" },
};

const ROWS = [
  "[tasks.build]",
  'depends-on = ["^build"]',
  "cache = true",
  'env = ["MODE"]',
  'inputs = ["../../tsconfig.base.json"]',
  'outputs = ["dist"]',
  "",
  "[tasks.test]",
  'depends-on = ["build"]',
  "cache = true",
  'env = ["MODE"]',
  'inputs = ["../../tsconfig.base.json"]',
  "",
  '[tasks."@acme/lib#test"]',
  'outputs = ["../../coverage/packages/lib"]',
  "",
  '[tasks."web#test"]',
  'outputs = ["../../coverage/packages/web"]',
  "",
  "[tasks.dev]",
  "depends-on = []",
  "cache = false",
  "",
  '[tasks."@acme/lib#build"]',
  'depends-on = ["^build", "build-native"]',
  'outputs = ["lib"]',
  "",
  '[tasks."@acme/lib#build-native"]',
  'command = "cd ../.. && echo native packages/lib"',
  "depends-on = []",
  "cache = true",
  'outputs = ["../../dist/native"]',
  "",
  '[tasks."web#build"]',
  `command = "export MODE='a b' && echo $MODE && pwd"`,
  'outputs = ["../../dist/packages/web"]',
  "",
  '[tasks."web#serve"]',
  'command = "rt run dev"',
  "depends-on = []",
  "cache = false",
  "",
  '[tasks."web#e2e"]',
  'command = "cd ../.. && pwd --x"',
  'depends-on = ["@acme/lib#build", "web#build", "@acme/lib#build-native", "^test"]',
  "cache = false",
  "",
  '[tasks."web#all"]',
  'command = "exit 0"',
  'depends-on = ["build", "test"]',
  "cache = false",
  "",
];

/** Each is in exactly one note. */
const NOTES = [
  '"@acme/lib#build-native": nx appends the option "outputPath" to the command',
  '"web#build": the configurations production',
  'no package has "codegen" of dependsOn',
  "excluded inputs",
  'the runtime input "node -v"',
  '"web#e2e": no package has "lint" of dependsOn',
  '"parallelism": false',
  '"@acme/lib#lint": the executor "@nx/eslint:lint"',
  '"web#inferred": a plugin infers it',
  "plugins (@nx/vite/plugin, @nx/js)",
  '"libs/old": there is no package.json',
  '"packages/web": implicitDependencies',
  '"nxCloudId"',
  '"parallel": add to [run] of rtfig.toml: concurrency = 4',
];

test("rt cache import translates nx.json and project.json, and names what has no equivalent", async () => {
  await using project = await createProject(WORKSPACE);
  const run = async (...args: string[]) => await runRt({ args, cwd: project.path });
  const { stdout, stderr, status } = await run("cache", "import", "nx.json");
  expect([stderr, status]).toEqual(["", 0]);
  expect((await Bun.file(project.join("rtfig.toml")).text()).split("\n")).toEqual(ROWS);
  const [first, , ...notes] = stdout.trimEnd().split("\n");
  expect(first).toBe("Wrote [tasks] for 11 scripts to rtfig.toml");
  for (const each of NOTES)
    expect([each, notes.filter((note) => note.includes(each)).length]).toEqual([each, 1]);
  expect(notes.length).toBe(NOTES.length);
  // The commands do what nx did, in its folder.
  const built = await run("run", "--no-cache", "--filter", "web", "build");
  expect([built.status, built.stdout]).toEqual([0, expect.stringContaining("web build: a b")]);
  expect(built.stdout).toContain(`web build: ${project.join("packages/web")}\n`);
  const plan = await run("run", "--dry-run=json", "--filter", "web", "e2e");
  const { tasks, warnings } = JSON.parse(plan.stdout) as { tasks: { label: string }[]; warnings: string[] };
  expect(warnings).toEqual([]);
  expect(tasks.map(({ label }) => label)).toEqual([
    "@acme/lib build-native",
    "@acme/lib build",
    "@acme/lib test",
    "web build",
    "web e2e",
  ]);
  expect((await run("cache", "import", "nx.json")).stderr).toStartWith(
    "error: rtfig.toml already has [tasks]\nhint: ",
  );
});

test("rt cache import reports an nx.json that it cannot use", async () => {
  await using project = await createProject({
    "package.json": { name: "root", workspaces: ["a"] },
    "nx.json": { plugins: ["@nx/js"] },
    "a/package.json": { name: "a" },
    "a/nx.json": {},
  });
  const run = async (path: string) =>
    (await runRt({ args: ["cache", "import", path], cwd: project.path })).stderr;
  expect(await run("nx.json")).toBe(
    "error: nx.json has no tasks\nhint: rt imports targetDefaults and explicit targets; add scripts to package.json\n",
  );
  expect(await run("a/nx.json")).toStartWith("error: a/nx.json belongs to a package\nhint: ");
  await project.write({ "a/project.json": "[]" });
  expect(await run("nx.json")).toContain("a/project.json is not an object\n");
  await project.write({ "a/project.json": "{" });
  expect(await run("nx.json")).toContain("a/project.json cannot be read: ");
});

test("rt cache import nx.json prefers the defaults of an executor, and makes a service of a continuous target that others need", async () => {
  await using project = await createProject({
    "package.json": { name: "app", scripts: { dev: "true" } },
    "nx.json": {
      targetDefaults: {
        dev: { continuous: true, cache: true },
        "nx:run-commands": { cache: true },
        tool: { dependsOn: ["dev"] },
      },
    },
    "project.json": { targets: { tool: { executor: "nx:run-commands", options: { command: "true" } } } },
  });
  const { stderr, status } = await runRt({ args: ["cache", "import", "nx.json"], cwd: project.path });
  expect([stderr, status]).toEqual(["", 0]);
  expect((await Bun.file(project.join("rtfig.toml")).text()).split("\n")).toEqual([
    "[tasks.dev]",
    "depends-on = []",
    "service = true",
    "",
    "[tasks.tool]",
    'depends-on = ["dev"]',
    "cache = false",
    "",
    '[tasks."//#tool"]',
    'command = "true"',
    "cache = true",
    "",
  ]);
});

test("rt cache import nx.json lists six names of a note, and five of seven with the number of the others", async () => {
  const folders = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const project = { implicitDependencies: ["x"], targets: {} };
  const packages = folders("packages/p", 6).flatMap((folder) => [
    [`${folder}/package.json`, { name: folder.slice("packages/".length), scripts: { build: "true" } }],
    [`${folder}/project.json`, project],
  ]);
  await using workspace = await createProject({
    "package.json": { name: "root", workspaces: ["packages/*"] },
    "nx.json": { targetDefaults: { build: { cache: true } } },
    ...(Object.fromEntries(packages) as Record<string, object>),
    ...Object.fromEntries(folders("libs/l", 7).map((folder) => [`${folder}/project.json`, {}])),
  });
  const { stdout } = await runRt({ args: ["cache", "import", "nx.json"], cwd: workspace.path });
  const names = (list: readonly string[]) => list.map((name) => JSON.stringify(name)).join(", ");
  expect(stdout).toContain(`\n  ${names(folders("packages/p", 6))}: implicitDependencies`);
  expect(stdout).toMatch(/\n {2}(?:"libs\/l\d", ){4}"libs\/l\d" and 2 others: there is no package\.json/);
});

test("rt cache import nx.json follows a long chain of named inputs, and keeps the marks of an output", async () => {
  const LENGTH = 20_000;
  const chain = Array.from({ length: LENGTH }, (_, index) => [`n${index}`, [`n${index + 1}`]] as const);
  const marks = "!".repeat(200_000);
  await using project = await createProject({
    "package.json": { name: "app", scripts: { build: "true" } },
    "nx.json": JSON.stringify({
      namedInputs: { ...Object.fromEntries(chain), [`n${LENGTH}`]: [{ env: "LAST" }] },
      targetDefaults: { build: { inputs: ["n0"], outputs: [`${marks}{projectRoot}/x`], cache: true } },
    }),
  });
  const { stderr, status } = await runRt({ args: ["cache", "import", "nx.json"], cwd: project.path });
  expect([stderr, status]).toEqual(["", 0]);
  const rows = (await Bun.file(project.join("rtfig.toml")).text()).split("\n");
  expect(rows).toContain('env = ["LAST"]');
  expect(rows.includes(`outputs = ["${marks}x"]`)).toBe(true);
});

test.skipIf(process.platform === "win32")(
  "rt cache import nx.json succeeds beside a folder that it cannot list, and enters no hidden folder",
  async () => {
    await using project = await createProject({
      "package.json": { name: "root", workspaces: ["packages/*"], scripts: { build: "true" } },
      "nx.json": { targetDefaults: { build: { cache: true } } },
      "closed/file": "",
      "node_modules/a/project.json": {},
      ".hidden/project.json": {},
      "libs/old/project.json": {},
    });
    await placeRt(project.join("rt"));
    chmodSync(project.path, 0o755);
    chmodSync(project.join("closed"), 0);
    if (isRoot) chownSync(project.path, OTHER_USER_ID, OTHER_USER_ID);
    const result = await runRt({
      program: [...AS_OTHER_USER, project.join("rt")],
      args: ["cache", "import", "nx.json"],
      cwd: project.path,
    });
    chmodSync(project.join("closed"), 0o755); // so that it can be removed
    expect(result).toEqual({
      stdout: [
        "Wrote [tasks] for 1 script to rtfig.toml",
        "Not imported, or different:",
        '  "libs/old": there is no package.json beside project.json; add one with a name\n',
      ].join("\n"),
      stderr: "",
      status: 0,
    });
  },
);
