// `rt run --affected` with cached tasks: what the last run of a task has read decides, and not its package.
import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { CAN_TRACE } from "../../cache/cached-project.ts";
import { createProject, type Project } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";

const git = (cwd: string, ...args: string[]) =>
  Bun.$`git -c user.name=t -c user.email=t@example.org ${args}`.cwd(cwd).quiet();

const RTFIG = `[tasks.build]
cache = true
depends-on = ["^build"]
outputs = ["dist/**"]
[tasks.lint]
cache = true
depends-on = []
outputs = ["report.txt"]
[tasks.test]
cache = true
depends-on = ["build"]
[tasks.deploy]
depends-on = []
`;

const FILES = {
  "package.json": { name: "root", workspaces: ["packages/*"] },
  "rtfig.toml": RTFIG,
  ".gitignore": "dist\ncache\n",
  "shared.txt": "shared",
  "packages/core/package.json": {
    name: "core",
    scripts: {
      build: "mkdir -p dist && cat src.txt ../../shared.txt > dist/out.txt",
      lint: "cat src.txt extra.txt 2>/dev/null; echo checked > report.txt",
      test: "cat dist/out.txt test.txt && ls cases",
    },
  },
  "packages/core/src.txt": "core",
  "packages/core/report.txt": "checked\n",
  "packages/core/test.txt": "test",
  "packages/core/cases/a.txt": "a",
  "packages/ui/package.json": {
    name: "ui",
    dependencies: { core: "*" },
    scripts: {
      build: "mkdir -p dist && cat ../core/dist/out.txt own.txt > dist/out.txt",
      lint: "cat own.txt",
      test: "cat dist/out.txt",
      deploy: "echo deployed",
    },
  },
  "packages/ui/own.txt": "ui",
};

interface Selection {
  readonly tasks: readonly { readonly label: string; readonly affected?: string }[];
  readonly unaffected: readonly { readonly label: string; readonly decidedBy: string }[];
}

async function openRepository(): Promise<{
  readonly project: Project & AsyncDisposable;
  readonly rt: (...args: string[]) => ReturnType<typeof runRt>;
  readonly select: (...names: string[]) => Promise<Selection>;
  readonly reset: () => Promise<void>;
}> {
  const project = await createProject(FILES);
  const rt = async (...args: string[]) =>
    await runRt({ args, cwd: project.path, env: { XDG_CACHE_HOME: project.join("cache") } });
  await git(project.path, "init", "-q", "-b", "main");
  await git(project.path, "add", ".");
  await git(project.path, "commit", "-qm", "first");
  return {
    project,
    rt,
    async select(...names) {
      const { stdout, stderr } = await rt("run", "--affected=HEAD", "--dry-run=json", ...names);
      expect(stderr).toBe("");
      return JSON.parse(stdout) as Selection;
    },
    async reset() {
      await git(project.path, "checkout", "-q", ".");
      await git(project.path, "clean", "-fdq");
    },
  };
}

/** The affected tasks with the reasons; dependencies of them that are not affected are left out. */
function affectedIn({ tasks }: Selection): Readonly<Record<string, string>> {
  return Object.fromEntries(tasks.flatMap(({ label, affected }) => (affected ? [[label, affected]] : [])));
}

test.if(CAN_TRACE)(
  "--affected selects the tasks whose recorded inputs changed, and their dependents",
  async () => {
    const { project, rt, select, reset } = await openRepository();
    await using _ = project;
    const first = await rt("run", "--workspaces", "--if-present", "build", "lint", "test");
    expect(first.status).toBe(0);
    const names = ["build", "lint", "test"];
    const ofCore = (text: string) => `because packages/core/${text}`;
    const because = (name: string) => `because it depends on ${name}, which is affected`;
    const changes: readonly [
      files: Readonly<Record<string, string | null>>,
      expected: Readonly<Record<string, string>>,
    ][] = [
      // No script reads the file, and of the other one only its name in a listing.
      [{ "packages/core/README.md": "x", "packages/core/cases/a.txt": "other" }, {}],
      // A script tried to read extra.txt.
      [
        { "packages/core/test.txt": "other", "packages/core/extra.txt": "" },
        { "core lint": ofCore("extra.txt changed"), "core test": ofCore("test.txt changed") },
      ],
      // git tracks the output report.txt.
      [
        { "packages/core/cases/more/b.txt": "", "packages/core/report.txt": "edited" },
        { "core lint": ofCore("report.txt changed"), "core test": ofCore("cases/more changed") },
      ],
      [{ "packages/core/cases/a.txt": null }, { "core test": ofCore("cases/a.txt changed") }],
      [{ "packages/core/test.txt": null }, { "core test": ofCore("test.txt changed") }],
      // Outside all packages.
      [
        { "shared.txt": "other" },
        {
          "core build": "because shared.txt changed",
          "core test": because("core#build"),
          "ui build": because("core#build"),
          "ui test": because("ui#build"),
        },
      ],
      [
        { "rtfig.toml": RTFIG.replace("[tasks.lint]\n", '[tasks.lint]\nenv = ["LEVEL"]\n') },
        { "core lint": "because rtfig.toml changed", "ui lint": "because rtfig.toml changed" },
      ],
      [{ "rtfig.toml": RTFIG.replace("[tasks.lint]\n", '[tasks.lint]\ndescription = "Checks"\n') }, {}],
      [
        {
          "packages/ui/package.json": JSON.stringify(FILES["packages/ui/package.json"]).replace(
            "own",
            "./own",
          ),
        },
        {
          "ui build": "because packages/ui/package.json changed",
          "ui lint": "because packages/ui/package.json changed",
          "ui test": "because packages/ui/package.json changed",
        },
      ],
    ];
    for (const [files, expected] of changes) {
      for (const [name, text] of Object.entries(files))
        if (text === null) await rm(project.join(name));
        else await project.write({ [name]: text });
      expect([files, affectedIn(await select(...names))]).toEqual([files, expected]);
      await reset();
    }
    await project.write({ "bun.lock": "{}" });
    expect(Object.values(affectedIn(await select(...names)))).toEqual(
      Array(6).fill("because bun.lock changed"),
    );
    await reset();
    // As in a new checkout: the records say what the builds make.
    await rm(project.join("packages/core/dist"), { recursive: true });
    await rm(project.join("packages/ui/dist"), { recursive: true });
    await project.write({ "packages/core/README.md": "x" });
    const { unaffected } = await select(...names);
    expect(unaffected.map(({ label, decidedBy }) => `${label}: ${decidedBy}`).sort()).toEqual(
      ["core build", "core lint", "core test", "ui build", "ui lint", "ui test"].map(
        (name) => `${name}: inputs`,
      ),
    );
  },
);

test.if(CAN_TRACE)("--affected selects by packages where a task has no valid record", async () => {
  const { project, rt, select, reset } = await openRepository();
  await using _ = project;
  await project.write({ "packages/core/README.md": "x" });
  const dependent = "because it depends on core, which is affected";
  const byPackage = { "core lint": "because packages/core/README.md changed", "ui lint": dependent };
  expect(affectedIn(await select("lint"))).toEqual(byPackage);
  expect((await rt("run", "--workspaces", "lint")).status).toBe(0);
  expect(affectedIn(await select("lint"))).toEqual({});
  // Without `cache`.
  expect(affectedIn(await select("deploy"))).toEqual({ "ui deploy": dependent });
  // The record is from before this commit, so it does not say what the script would read now.
  await reset();
  await project.write({ "packages/core/src.txt": "new" });
  await git(project.path, "commit", "-qam", "second");
  await project.write({ "packages/core/README.md": "x" });
  expect(affectedIn(await select("lint"))).toEqual({
    "core lint": "because packages/core/README.md changed",
  });
  // A task outside the run makes dist, which git ignores.
  await rt("run", "--workspaces", "build");
  await project.write({ "rtfig.toml": RTFIG.replace('depends-on = ["build"]', "depends-on = []") });
  await git(project.path, "commit", "-qam", "third");
  expect((await rt("run", "--workspaces", "test")).status).toBe(0);
  expect(affectedIn(await select("test"))).toEqual({
    "core test": "because packages/core/README.md changed",
    "ui test": dependent,
  });
});

test.if(CAN_TRACE)("--affected --dry-run lists what it leaves out, and by what", async () => {
  const { project, rt } = await openRepository();
  await using _ = project;
  await rt("run", "--filter", "core", "lint");
  await project.write({ "packages/core/README.md": "x", "packages/ui/own.txt": "new" });
  const { stdout } = await rt("run", "--affected=HEAD", "--dry-run", "lint");
  expect(stdout).toBe(
    [
      "ui lint",
      "  because packages/ui/own.txt changed",
      "  cache miss: no earlier run",
      "  [tasks.lint]: depends-on, cache, outputs",
      "  $ cat own.txt",
      "",
      "not affected, decided by recorded inputs: core#lint",
      "",
      "1 script would run",
      "",
    ].join("\n"),
  );
  const { stderr } = await rt("run", "--affected=HEAD", "--filter", "core", "lint");
  expect(stderr).toContain("warning: No such task is affected\n");
});
