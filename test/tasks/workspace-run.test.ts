// `rt run --filter` and `--workspaces`: order, labels, failures, and the concurrency limit.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createProject } from "../support/project.ts";
import { expectRt, RT, runRt } from "../support/rt.ts";
import { scripts, workspace } from "../support/workspace.ts";

const SUMMARY = /^\n\d+ scripts in .*\n(.*\n)*$/;

describe("rt run --filter", () => {
  test("prefixes every line with package and script", () =>
    expectRt({
      files: workspace({ a: scripts("echo one; echo two >&2; printf three") }),
      args: ["run", "--filter", "a", "t"],
      stdout: "a t: one\na t: two\na t: three\na t: Exited with code 0\n",
    }));

  test("ignores the order of dependencies with --parallel", () =>
    expectRt({
      files: workspace({ a: { ...scripts("echo a"), dependencies: { b: "*" } }, b: scripts("echo b") }),
      args: ["run", "--dry-run", "--parallel", "--workspaces", "t"],
      stdout: "b:t\n  $ echo b\na:t\n  $ echo a\n\n2 scripts would run\n",
    }));

  test("labels a package without a name by its folder", () =>
    expectRt({
      files: workspace({ a: { name: "", ...scripts("echo one") } }),
      args: ["run", "--workspaces", "t"],
      stdout: "packages/a t: one\npackages/a t: Exited with code 0\n",
    }));

  test("runs hooks around the script under their own names", () =>
    expectRt({
      files: workspace({ a: { scripts: { pret: "echo 1", t: "echo 2", postt: "echo 3" } } }),
      args: ["run", "--filter", "a", "t"],
      stdout:
        "a pret: 1\na pret: Exited with code 0\na t: 2\na t: Exited with code 0\na postt: 3\na postt: Exited with code 0\n",
    }));

  test("stops a package at a failing hook", () =>
    expectRt({
      files: workspace({ a: { scripts: { pret: "exit 5", t: "echo never" } } }),
      args: ["run", "--filter", "a", "t"],
      stdout: "a pret: Exited with code 5\n",
      status: 5,
    }));

  test("passes arguments to the script and not to its hooks", () =>
    expectRt({
      files: workspace({ a: { scripts: { pret: "echo", t: "echo" } } }),
      args: ["run", "--filter", "a", "t", "x", "y"],
      stdout: "a pret: \na pret: Exited with code 0\na t: x y\na t: Exited with code 0\n",
    }));

  test("never blocks on a package.json that is a named pipe", async () => {
    await using project = await createProject(workspace({ a: scripts("echo") }));
    await project.write({ "packages/b/x": "" });
    const file = project.join("packages/b/package.json");
    Bun.spawnSync(["mkfifo", file]);
    const { stderr, status } = await runRt({ args: ["run", "--filter", "a", "t"], cwd: project.path });
    expect(stderr).toBe(`warning: Cannot read ${file}:1:1: expected a value, found the end of the file\n`);
    expect(status).toBe(0);
  });

  test("loads no lazy module of the engine, and no streams for cached scripts", async () => {
    await using project = await createProject(
      workspace({ a: scripts("sleep 0"), b: scripts("echo b; pwd") }),
    );
    const listModules = async () => {
      // The engine writes each word separately. This process would take seconds to read them.
      await runRt({
        program: ["sh", "-c", '("$0" "$@" | cat > /dev/null) 2>&1 | cat > list', RT],
        args: ["run", "--filter", "*", "t"],
        cwd: project.path,
        env: { BUN_JSC_dumpGeneratedBytecodes: "1", XDG_CACHE_HOME: project.join("cache") },
      });
      const functions = readFileSync(project.join("list"), "utf8").matchAll(/^(\S*)#\w+:\[/gm);
      const names = [...functions].map(([, name]) => name!);
      expect(names.filter((name) => name.includes("chunk-")).length).toBeGreaterThan(2);
      return names.filter((name) => name.includes(":"));
    };
    expect(await listModules()).toEqual([]);
    await project.write({ "rtfig.toml": "[tasks.t]\ncache = true\n" });
    const modules = await listModules();
    expect(modules).toContain("node:fs");
    expect(modules.filter((name) => /net|stream/.test(name))).toEqual([]);
  });

  test.if(process.platform === "linux")("runs from a directory whose name is not valid UTF-8", async () => {
    await using project = await createProject(workspace({ a: scripts("echo") }));
    const place = `packages/$(printf 'b\\377')`;
    const command = `mkdir "${place}" && cd "${place}" && exec ${RT} run --filter a t`;
    const { stdout, stderr, exitCode } = Bun.spawnSync(["sh", "-c", command], { cwd: project.path });
    expect({ stdout: stdout.toString(), stderr: stderr.toString(), exitCode }).toEqual({
      stdout: "a t: \na t: Exited with code 0\n",
      stderr: "",
      exitCode: 0,
    });
  });

  test("starts packages after their dependencies, also through packages without the script", () =>
    expectRt({
      files: workspace({
        app: { ...scripts("echo app"), dependencies: { middle: "workspace:*" } },
        middle: { peerDependencies: { alias: "1" }, devDependencies: { zebra: "workspace:*" } },
        zebra: { ...scripts("echo zebra"), optionalDependencies: { beta: "npm:alpha@1" } },
        alpha: scripts("echo alpha"),
      }),
      args: ["run", "--filter", "*", "t"],
      stdout:
        "alpha t: alpha\nalpha t: Exited with code 0\nzebra t: zebra\nzebra t: Exited with code 0\napp t: app\napp t: Exited with code 0\n",
      stderr: SUMMARY,
    }));

  test("skips the dependents of a failed package, runs the rest, and exits with the failure's code", async () => {
    const files = workspace({
      a: scripts("exit 3"),
      b: { ...scripts("echo never"), dependencies: { a: "*" } },
      c: { ...scripts("echo never"), dependencies: { b: "*" } },
      d: scripts("echo d"),
    });
    await using project = await createProject(files);
    const result = await runRt({ args: ["run", "--filter", "*", "t"], cwd: project.path });
    expect(result.stdout.split("\n").filter(Boolean).sort()).toEqual([
      "a t: Exited with code 3",
      "b t: Skipped because a t did not succeed",
      "c t: Skipped because a t did not succeed",
      "d t: Exited with code 0",
      "d t: d",
    ]);
    expect(result.stderr).toMatch(
      /4 scripts in .*: 1 succeeded, 1 failed, 2 skipped\nFailed: {2}a t \(Exited with code 3\)\n/,
    );
    expect(result.status).toBe(3);
  });

  test("runs the dependents of a failed package with --no-exit-on-error", () =>
    expectRt({
      files: workspace({ a: scripts("exit 3"), b: { ...scripts("echo b"), dependencies: { a: "*" } } }),
      args: ["run", "--no-exit-on-error", "--filter", "*", "t"],
      stdout: "a t: Exited with code 3\nb t: b\nb t: Exited with code 0\n",
      stderr: SUMMARY,
      status: 3,
    }));

  test("reports a cycle and runs it", () =>
    expectRt({
      files: workspace({
        a: { ...scripts("echo a"), dependencies: { b: "*" } },
        b: { ...scripts("echo b"), dependencies: { a: "*" } },
      }),
      args: ["run", "--silent", "--filter", "*", "t"],
      stdout: "b t: b\nb t: Exited with code 0\na t: a\na t: Exited with code 0\n",
      stderr: "warning: Circular dependency: a -> b -> a\n",
    }));

  test("re-raises the signal that ended a script", () =>
    expectRt({
      files: workspace({ a: scripts("kill -KILL $$") }),
      args: ["run", "--filter", "a", "t"],
      stdout: "a t: Killed by SIGKILL\n",
      status: "SIGKILL",
    }));

  test("leaves out packages without the script with --if-present", () =>
    expectRt({ files: workspace({ a: {} }), args: ["run", "--if-present", "--filter", "a", "t"] }));

  test.each([[["--filter", "a"]], [["--filter", "*"]], [["--workspaces"]]])(
    "continues with %j when a listed member package does not exist",
    (which) =>
      expectRt({
        files: workspace({ a: scripts("echo a") }, { workspaces: ["packages/*", "packages/gone"] }),
        args: ["run", "--silent", ...which, "t"],
        stdout: "a t: a\na t: Exited with code 0\n",
        stderr:
          "warning: Cannot read $PROJECT/packages/gone/package.json: the workspace lists it, but it does not exist\n",
      }),
  );

  test("runs the readable member packages with --no-exit-on-error, but fails", () =>
    expectRt({
      files: { ...workspace({ a: scripts("echo a") }), "packages/b/package.json": "{" },
      args: ["run", "--no-exit-on-error", "--workspaces", "t"],
      stdout: "a t: a\na t: Exited with code 0\n",
      stderr:
        /^warning: Cannot read .*packages\/b\/package.json:1:2: expected }, found the end of the file\n$/,
      status: 1,
    }));

  test("passes standard input to a single selected package", () =>
    expectRt({
      files: workspace({ a: scripts("cat") }),
      args: ["run", "--filter", "a", "t"],
      stdin: "hello",
      stdout: "a t: hello\na t: Exited with code 0\n",
    }));

  test("never exceeds --concurrency, and runs each package in its directory", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `p${index}`);
    const files = workspace(
      Object.fromEntries(
        names.map((name) => [
          name,
          scripts("bash -c 'ls ../../running | wc -l; touch ../../running/$$; pwd; rm ../../running/$$'"),
        ]),
      ),
    );
    await using project = await createProject({ ...files, "running/.keep": "" });
    const { stdout, status } = await runRt({
      args: ["run", "--concurrency", "1", "--filter", "*", "t"],
      cwd: project.path,
    });
    const expected = names.map(
      (name) => `${name} t: 0\n${name} t: ${project.join("packages", name)}\n${name} t: Exited with code 0\n`,
    );
    expect({ stdout, status }).toEqual({ stdout: expected.join(""), status: 0 });
  });

  test("runs 300 packages at once without running out of file descriptors", async () => {
    const names = Array.from({ length: 300 }, (_, index) => `p${index}`);
    await using project = await createProject(
      workspace(Object.fromEntries(names.map((name) => [name, scripts("sleep 0.01; echo x")]))),
    );
    const program = ["bash", "-c", `ulimit -n 256; exec ${RT} run --parallel --silent --filter '*' t`];
    const { stdout, status } = await runRt({ program, cwd: project.path });
    expect(status).toBe(0);
    expect(stdout.split("\n").filter((line) => line.endsWith("| x")).length).toBe(300);
  });
});

test("rt run --filter without a script lists the scripts of the packages", () =>
  expectRt({
    files: workspace({ a: { scripts: { t: "echo a", u: "echo u" } }, b: {} }),
    args: ["run", "--workspaces"],
    stdout:
      "a scripts (2 found):\n  $ rt run --filter a t\n    echo a\n  $ rt run --filter a u\n    echo u\n\nb scripts (0 found):\n",
  }));

test("a script that starts itself through the workspace is stopped and named", async () => {
  const { RT } = await import("../support/rt.ts");
  await using project = await createProject(workspace({ a: scripts(`${RT} run --filter a t`) }));
  const { stdout, status } = await runRt({ args: ["run", "--filter", "a", "t"], cwd: project.path });
  expect(stdout).toContain("Script recursion: t -> t");
  expect(status).toBe(1);
});

test("a command that is too long for the system fails only its own script", () =>
  expectRt({
    files: workspace({ a: scripts(`true ${"x".repeat(200_000)};`), b: scripts("echo b") }),
    args: ["run", "--silent", "--concurrency", "1", "--workspaces", "t"],
    stdout:
      "a t: Cannot start: the command and its environment are too long for this system\nb t: b\nb t: Exited with code 0\n",
    status: 126,
  }));

test("a script that could not start counts as failed in the summary", async () => {
  await using project = await createProject(
    workspace({ a: scripts(`true ${"x".repeat(200_000)};`), b: scripts("echo b") }),
  );
  const { stderr } = await runRt({ args: ["run", "--workspaces", "t"], cwd: project.path });
  expect(stderr).toContain(": 1 succeeded, 1 failed\nFailed:  a t (Cannot start: the command and its ");
});

describe("a project without workspaces", () => {
  const FOUND = {
    "package.json": { name: "top", scripts: { t: `${RT} --silent run --filter '*' t`, u: "echo top" } },
    "libs/a/package.json": { name: "a", scripts: { t: "echo a", u: "echo a" } },
  };

  test("lets a script of the top folder run the other packages with --filter '*'", () =>
    expectRt({ files: FOUND, args: ["--silent", "run", "t"], stdout: "a t: a\na t: Exited with code 0\n" }));

  test("runs the top folder's package with --filter when its name or path is given", () =>
    expectRt({
      files: FOUND,
      args: ["--silent", "run", "--sequential", "--filter", "top", "--filter", "./libs/a", "u"],
      stdout: "top:u | top\na:u   | a\n",
      stderr: /^top:u \| Done in .*\na:u   \| Done in .*\n$/,
    }));

  test("runs every package but the top folder's with --workspaces", () =>
    expectRt({
      files: FOUND,
      args: ["--silent", "run", "--workspaces", "u"],
      stdout: "a u: a\na u: Exited with code 0\n",
    }));

  test("refuses --workspaces when it has one package", () =>
    expectRt({
      files: { "package.json": { name: "top", scripts: { u: "echo top" } } },
      args: ["--silent", "run", "--workspaces", "u"],
      stderr: /^error: --workspaces found no packages below this folder\nhint: .*\n$/,
      status: 1,
    }));

  test("runs its only package with --filter '*'", () =>
    expectRt({
      files: { "package.json": { name: "top", scripts: { u: "echo top" } } },
      args: ["--silent", "run", "--filter", "*", "u"],
      stdout: "top u: top\ntop u: Exited with code 0\n",
    }));
});
