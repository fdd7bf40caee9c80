// `rt run --parallel` and `--sequential`: labels, order, failures.
import { describe, expect, test } from "bun:test";
import { appendFile } from "node:fs/promises";
import { createProject, type Files } from "../support/project.ts";
import { expectRt, RT, runRt, startRt } from "../support/rt.ts";
import { scripts, workspace } from "../support/workspace.ts";

describe("rt run --parallel and --sequential", () => {
  const files: Files = {
    "package.json": {
      scripts: {
        one: "echo 1; echo e >&2",
        two: "echo 2",
        "b:y": "echo y",
        "b:x": "echo x",
        fail: "exit 7",
        slow: "echo up; sleep 1000",
      },
    },
  };
  const done = / \| Done in [\d.]+ m?s\n/;

  test("print at the end the scripts that a signal ended and the three slowest scripts", async () => {
    const names = ["b", "c", "d", "e"];
    await using project = await createProject({
      "package.json": {
        scripts: { a: "kill -TERM $$", ...Object.fromEntries(names.map((name) => [name, "true"])) },
      },
    });
    const words = ["run", "--parallel", "--no-exit-on-error", "a", ...names];
    const { stderr } = await runRt({ args: words, cwd: project.path });
    expect(stderr).toMatch(/^5 scripts in .*: 4 succeeded, 1 failed$/m);
    expect(stderr).toContain("\nFailed:  a (Killed by SIGTERM)\n");
    expect(/^Slowest: (.*)$/m.exec(stderr)![1]!.split("), ")).toHaveLength(3);
  });

  test("align labels, and keep standard error separate", () =>
    expectRt({
      files,
      args: ["run", "--sequential", "--silent", "one", "b:*"],
      stdout: "one | 1\nb:x | x\nb:y | y\n",
      stderr: new RegExp(`^one \\| e\none${done.source}b:x${done.source}b:y${done.source}$`),
    }));

  test("run a script once when several names select it", () =>
    expectRt({
      files,
      args: ["run", "--sequential", "--silent", "b:y", "b:*", "b:y"],
      stdout: "b:y | y\nb:x | x\n",
      stderr: new RegExp(`^b:y${done.source}b:x${done.source}$`),
    }));

  test("run the scripts that a regular expression matches, with the arguments", () =>
    expectRt({
      files,
      args: ["run", "/^b:[xz]$|^two/", "a b"],
      stdout: /^(?=[^]*^two: 2 a b$)(?=[^]*^b:x: x a b$)(?![^]*^(?:one|b:y))/m,
      stderr: /^2 scripts in .*: 2 succeeded$/m,
    }));

  test("explain a regular expression that is not valid", () =>
    expectRt({
      files,
      args: ["run", "/^(one/"],
      status: 1,
      stderr:
        "error: \"/^(one/\" is not a valid regular expression\nhint: it selects scripts as in: rt run '/^build:/'\n",
    }));

  test("take an existing folder with slashes at both ends for a path, also if its name has special characters", () =>
    expectRt({
      files: { ...files, "[id]/index.js": "console.log('index')" },
      args: ["run", "$PROJECT/[id]/"],
      stdout: "index\n",
    }));

  test("start all scripts at once with --parallel", async () => {
    await using project = await createProject({
      "package.json": { scripts: { a: "read line < pipe; echo $line", b: "echo from b > pipe" } },
    });
    await Bun.$`mkfifo ${project.join("pipe")}`;
    const { stdout, status } = await runRt({
      args: ["run", "--parallel", "--concurrency", "2", "a", "b"],
      cwd: project.path,
    });
    expect({ stdout, status }).toEqual({ stdout: "a | from b\n", status: 0 });
  });

  test("list the slowest scripts first", async () => {
    const scripts = { slow: "read go < pipe", quick: "true" };
    await using project = await createProject({ "package.json": { scripts } });
    await Bun.$`mkfifo ${project.join("pipe")}`;
    const child = startRt({
      args: ["run", "--parallel", "--concurrency", "2", "slow", "quick"],
      cwd: project.path,
    });
    const decoder = new TextDecoder();
    let stderr = "";
    let isReleased = false;
    for await (const bytes of child.stderr) {
      stderr += decoder.decode(bytes, { stream: true });
      if (isReleased || !stderr.includes("quick | Done")) continue;
      isReleased = true;
      await appendFile(project.join("pipe"), "\n");
    }
    expect(stderr).toMatch(/\nSlowest: slow \([\d.]+ m?s\), quick \([\d.]+ m?s\)\n$/);
    expect(await child.exited).toBe(0);
  });

  test("stop the other scripts at a failure with --parallel, and exit with its code", () =>
    expectRt({
      files: {
        "package.json": {
          scripts: { fail: "until [ -e up ]; do sleep 0.05; done; exit 7", slow: "touch up; sleep 1000" },
        },
      },
      args: ["run", "--parallel", "--silent", "slow", "fail"],
      stderr: "fail | Exited with code 7\nslow | Killed by SIGTERM\n",
      status: 7,
    }));

  test("start no script after a failure with --sequential unless --no-exit-on-error is given", async () => {
    await expectRt({
      files,
      args: ["run", "--sequential", "--silent", "fail", "two"],
      stderr: "fail | Exited with code 7\ntwo  | Not started\n",
      status: 7,
    });
    await expectRt({
      files,
      args: ["run", "--sequential", "--silent", "--no-exit-on-error", "fail", "two"],
      stdout: "two  | 2\n",
      stderr: /^fail \| Exited with code 7\ntwo {2}\| Done in [\d.]+ m?s\n$/,
      status: 7,
    });
  });

  test("end an unfinished last line of the last script", () =>
    expectRt({
      files: { "package.json": { scripts: { one: "printf 1" } } },
      args: ["run", "--parallel", "--silent", "one"],
      stdout: "one | 1\n",
      stderr: /Done in/,
    }));

  test("report an unknown script", () =>
    expectRt({
      files,
      args: ["run", "--parallel", "one", "tow"],
      stderr: 'error: Script "tow" not found\nhint: did you mean "two"?\n',
      status: 1,
    }));

  test("label scripts of a workspace with package and script, dependencies first", () =>
    expectRt({
      files: workspace({ a: { ...scripts("echo a"), dependencies: { bb: "*" } }, bb: scripts("echo b") }),
      args: ["run", "--sequential", "--silent", "--workspaces", "t"],
      stdout: "bb:t | b\na:t  | a\n",
      stderr: /^bb:t \| Done in [\d.]+ m?s\na:t {2}\| Done in [\d.]+ m?s\n$/,
    }));

  test("colour labels with FORCE_COLOR", () =>
    expectRt({
      files,
      args: ["run", "--sequential", "--silent", "two"],
      env: { FORCE_COLOR: "1" },
      stdout: "\x1b[36mtwo\x1b[0m | 2\n",
      stderr: /Done in/,
    }));
});

test.skipIf(process.platform !== "linux")("a full standard output is an error, not a closed pipe", () =>
  expectRt({
    files: { "package.json": { scripts: { t: "echo x; sleep 1001" } } },
    program: ["bash", "-c", `exec ${RT} run --parallel t > /dev/full`],
    stderr: /^(.*\n)*error: Cannot write to standard output: ENOSPC\n(.*\n)*$/,
    status: 1,
  }),
);
