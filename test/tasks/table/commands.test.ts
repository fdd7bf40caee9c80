// `command` and `description` of [tasks].
import { describe, expect, test } from "bun:test";
import { createProject, type Files } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { packageWith, workspace } from "../../support/workspace.ts";

const config = (...rows: string[]) => ({ "rtfig.toml": `${rows.join("\n")}\n` });

async function run(files: Files, args: readonly string[], folder = "") {
  await using project = await createProject(files);
  const result = await runRt({ args, cwd: project.join(folder) });
  return { ...result, stdout: result.stdout.replaceAll(project.path, "$PROJECT") };
}

describe("command", () => {
  const PACKAGES = workspace({
    web: { scripts: { test: "echo test" } },
    ui: { scripts: { test: "echo test", types: "echo own types" } },
  });

  test("a command is a task that rt runs like a script, with its arguments, hooks and environment", async () => {
    const files = {
      ...packageWith({ predb: "echo pre" }),
      ...config("[tasks.db]", 'command = "echo $npm_lifecycle_event $npm_package_name"'),
    };
    for (const words of [
      ["db", "x"],
      ["run", "db", "x"],
    ])
      expect(await run(files, words)).toEqual({
        stdout: "pre\ndb project x\n",
        stderr: "$ echo pre\n$ echo $npm_lifecycle_event $npm_package_name x\n",
        status: 0,
      });
  });

  test("a command belongs to the root project, and runs once for all packages that depend on it", async () => {
    const files = {
      ...PACKAGES,
      ...config("[tasks.db]", 'command = "pwd"', "[tasks.test]", 'depends-on = ["db"]'),
    };
    const { stdout } = await run(files, ["run", "--filter=*", "test"]);
    expect(stdout.split("\n").slice(0, 2)).toEqual(["root db: $PROJECT", "root db: Exited with code 0"]);
    expect(stdout.match(/root db: \$PROJECT/g)).toHaveLength(1);
    expect((await run(files, ["run", "db"], "packages/web")).stdout).toBe("$PROJECT\n");
  });

  test('a command belongs to each package with "*#name", unless the package has the script', async () => {
    const files = { ...PACKAGES, ...config('[tasks."*#types"]', 'command = "echo types"') };
    expect((await run(files, ["run", "types"], "packages/web")).stdout).toBe("types\n");
    expect((await run(files, ["run", "types"], "packages/ui")).stdout).toBe("own types\n");
    const { stdout } = await run(files, ["run", "--workspaces", "--sequential", "types"]);
    expect(stdout).toBe("ui:types  | own types\nweb:types | types\n");
  });

  test("a command of one package runs by the name package#task, from any folder", async () => {
    const files = { ...PACKAGES, ...config('[tasks."web#serve"]', 'command = "pwd"') };
    for (const folder of ["", "packages/ui"]) {
      const { stdout, stderr, status } = await run(files, ["run", "web#serve"], folder);
      expect([stderr, status]).toEqual(["$ pwd\n", 0]);
      expect(stdout).toBe("$PROJECT/packages/web\n");
    }
  });

  test("a command works in a folder without a package.json", async () => {
    const files = config(
      "[tasks.db]",
      'command = "echo db"',
      "[tasks.all]",
      'command = "echo all"',
      'depends-on = ["db"]',
    );
    expect((await run(files, ["run", "db"])).stdout).toBe("db\n");
    expect((await run(files, ["run", "all"])).stdout).toBe(
      "db: db\ndb: Exited with code 0\nall: all\nall: Exited with code 0\n",
    );
  });

  test("a command does not replace a file or a command of rt", async () => {
    const files = {
      "a.ts": "console.log('file')",
      ...packageWith({}),
      ...config('[tasks."a.ts"]', 'command = "echo task"'),
    };
    expect((await run(files, ["a.ts"])).stdout).toBe("file\n");
    expect((await run(files, ["./a.ts"])).stdout).toBe("file\n");
    expect((await run(files, ["run", "a.ts"])).stdout).toBe("task\n");
  });

  test.each([
    [
      'command = " "',
      'tasks.db.command is empty\nhint: add to [tasks.db] of rtfig.toml: command = "node server.js"',
    ],
    [
      'command = "a\\u0000b"',
      'tasks.db.command has a NUL character\nhint: add to [tasks.db] of rtfig.toml: command = "node server.js"',
    ],
    ["command = 1", "tasks.db.command needs a string, not 1"],
  ])("rejects %p", async (row, error) => {
    const { stderr, status } = await run({ ...packageWith({}), ...config("[tasks.db]", row) }, ["run", "db"]);
    expect({ stderr, status }).toEqual({ stderr: `error: rtfig.toml:2: ${error}\n`, status: 1 });
  });
});

describe("lists of scripts", () => {
  const FILES = {
    ...workspace({ web: { scripts: { build: "vite build" } } }, { scripts: { lint: "eslint" } }),
    ...config(
      "[tasks.build]",
      'description = "Bundle\\u001b the package"',
      "[tasks.db]",
      'command = "postgres"',
      'description = "A database"',
    ),
  };

  test("show descriptions and commands of [tasks]", async () => {
    expect((await run(FILES, ["run"], "packages/web")).stdout).toBe(
      "package.json scripts (1 found):\n  $ rt run build\n    Bundle\\u001b the package\n    vite build\n",
    );
    expect((await run(FILES, ["run", "--filter=root"])).stdout).toBe(
      "root scripts (2 found):\n  $ rt run --filter root lint\n    eslint\n  $ rt run --filter root db\n    A database\n    postgres\n",
    );
  });

  test("complete commands of [tasks], with descriptions", async () => {
    expect((await run(FILES, ["completions", "query", "--", "run", "d"])).stdout).toStartWith(
      "db\tA database\n",
    );
  });
});
