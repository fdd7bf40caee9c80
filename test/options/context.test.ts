// Options for the directory and the settings of a run.
import { describe, expect } from "bun:test";
import { createProject } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";
import { outputOf, prove, runIn } from "./prove.ts";

const settings = {
  ".env": "FROM=dotenv",
  "one.env": "FROM=one\nONLY_ONE=1\nQUOTED='a b'",
  "two.env": "FROM=two\nNESTED=${FROM}/x",
  "a.ts": "console.log(process.env.FROM, process.env.ONLY_ONE, process.env.NESTED)",
  "package.json": { scripts: { show: "echo $FROM $ONLY_ONE $NESTED $QUOTED" } },
};

describe("context", () => {
  prove("env-file", "loads files into a program, the last one winning", async () => {
    expect(await outputOf(settings, ["a.ts"])).toBe("dotenv undefined undefined");
    expect(await outputOf(settings, ["--env-file=one.env", "--env-file", "two.env", "a.ts"])).toBe(
      "two 1 two/x",
    );
  });

  prove("env-file", "loads files into a script's environment, which wins over them", async () => {
    const args = ["--env-file=one.env", "--env-file=two.env", "run", "show"];
    expect(await outputOf(settings, args)).toBe("two 1 two/x a b");
    expect(await outputOf(settings, args, { env: { FROM: "outside" } })).toBe("outside 1 outside/x a b");
  });

  prove("env-file", "leaves inherited variables unchanged, also ones that are not UTF-8", async () => {
    const show = 'printf "%s %s" "$ONLY_ONE" "$BYTES" | od -An -tx1';
    await using project = await createProject({ ...settings, "package.json": { scripts: { show } } });
    const inherit = `export BYTES="$(printf 'a\\377b')"; exec "$0" "$@"`;
    const { stdout } = await runRt({
      program: ["sh", "-c", inherit, RT],
      args: ["--silent", "--env-file=one.env", "run", "show"],
      cwd: project.path,
    });
    expect(stdout.trim()).toBe("31 20 61 ff 62");
  });

  prove("env-file", "warns about a missing file and continues", async () => {
    const warning = "warning: --env-file: there is no gone.env; correct its path, or remove the option\n";
    const options = ["--env-file=one.env,gone.env"];
    const files = { ...settings, "package.json": { scripts: { s: "true" } } };
    expect((await runIn(files, [...options, "a.ts"])).stderr).toBe(warning);
    expect((await runIn(files, [...options, "--silent", "run", "s"])).stderr).toBe(warning);
  });

  prove("env-file", "escapes control characters in a file's name", async () => {
    const name = "a\u001b[2J\n::stop-commands::b\u202e";
    const files = { ...settings, "package.json": { scripts: { s: "true" } } };
    for (const args of [["a.ts"], ["--silent", "run", "s"]]) {
      const { stderr } = await runIn(files, [`--env-file=${name}`, ...args]);
      expect(stderr).toBe(
        String.raw`warning: --env-file: there is no a\u001b[2J\n::stop-commands::b\u202e; ` +
          "correct its path, or remove the option\n",
      );
    }
  });

  prove("env-file", "adds no variable of the engine to a script's environment", async () => {
    const files = { ...settings, "package.json": { scripts: { show: "env" } } };
    const plain = await outputOf(files, ["run", "show"]);
    const output = await outputOf(files, ["--env-file=one.env", "run", "show"]);
    const names = (text: string) => text.split("\n").map((line) => line.split("=")[0]!);
    expect(
      names(output)
        .filter((name) => !names(plain).includes(name))
        .sort(),
    ).toEqual(["FROM", "ONLY_ONE", "QUOTED"]);
  });

  prove("env-file", "applies to binaries and to several scripts", async () => {
    const files = {
      ...settings,
      "node_modules/.bin/show": '#!/bin/sh\necho "binary $FROM"',
      "package.json": { scripts: { x: "echo $FROM", y: "echo $FROM" } },
    };
    const setting = { executable: ["node_modules/.bin/show"] };
    expect(await outputOf(files, ["--env-file=one.env", "run", "show"], setting)).toBe("binary one");
    expect(
      (await outputOf(files, ["--env-file=one.env", "--parallel", "run", "x", "y"])).match(/one/g)?.length,
    ).toBe(2);
  });

  prove("no-env-file", "ignores .env files", async () => {
    expect(await outputOf(settings, ["--no-env-file", "a.ts"])).toBe("undefined undefined undefined");
  });

  prove("cwd", "changes the directory, with its .env and its scripts", async () => {
    const files = {
      "sub/a.ts": "console.log(process.cwd().endsWith('sub'), process.env.FROM)",
      "sub/.env": "FROM=sub",
      "sub/package.json": { scripts: { where: "basename $PWD" } },
    };
    for (const directory of ["sub", "./sub", "$PROJECT/sub"]) {
      expect(await outputOf(files, [`--cwd=${directory}`, "a.ts"])).toBe("true sub");
      expect(await outputOf(files, ["--cwd", directory, "run", "--smol", "a.ts"])).toBe("true sub");
      expect(await outputOf(files, [`--cwd=${directory}`, "run", "where"])).toBe("sub");
    }
    const { status, stderr } = await runIn(files, ["--cwd=none", "a.ts"]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('Cannot work in "none"')]);
  });

  prove("config", "reads another rtfig.toml", async () => {
    const files = {
      "rtfig.toml": "[define]\nFROM = \"'rtfig'\"",
      "other/x.toml": "[define]\nFROM = \"'other'\"",
      "a.ts": "console.log(FROM)",
    };
    expect(await outputOf(files, ["a.ts"])).toBe("rtfig");
    expect(await outputOf(files, ["--config=other/x.toml", "a.ts"])).toBe("other");
    expect(await outputOf(files, ["-c", "$PROJECT/other/x.toml", "run", "a.ts"])).toBe("other");
  });
});

describe("options that do not apply to scripts", () => {
  const script = { "package.json": { scripts: { s: "echo ran" } } };

  prove("smol", "causes one warning before a script", async () => {
    const { status, stdout, stderr } = await runIn(script, ["--smol", "--define=A:1", "run", "s"]);
    expect([status, stdout]).toEqual([0, "ran\n"]);
    expect(stderr).toBe(
      'warning: --smol, --define have no effect on "s"; it applies only to code run by rt: ' +
        "write them in the script, as in: rt --smol <file>\n$ echo ran\n",
    );
  });

  prove("no-clear-screen", "and other options that apply to scripts cause no warning", async () => {
    const { stderr } = await runIn(script, ["--no-clear-screen", "--no-env-file", "--port=1", "run", "s"]);
    expect(stderr).toBe("$ echo ran\n");
  });

  prove("smol", "causes no warning when rtfig.toml sets it", async () => {
    const { stderr } = await runIn({ ...script, "rtfig.toml": "smol = true" }, ["run", "s"]);
    expect(stderr).toBe("$ echo ran\n");
  });
});

describe("a bunfig.toml", () => {
  prove("config", "does not default to a bunfig.toml, in any way of running", async () => {
    await using project = await createProject({
      "bunfig.toml": 'preload = ["./bad.ts"]\n[test]\npreload = ["./bad.ts"]\n[define]\nA = "1"',
      "bad.ts": 'console.log("BAD")',
      "good.ts": 'console.log("good")',
      "a.ts": 'console.log("a", typeof A)',
      "a.test.ts": 'import { test } from "bun:test"; test("t", () => console.log("tested"));',
    });
    const runs: [string[], string?][] = [
      [["a.ts"]],
      [["--smol", "a.ts"]],
      [["--preload=./good.ts", "--smol", "a.ts"]],
      [["-p", "1"]],
      [["run", "-"], 'console.log("in")'],
      [["test"]],
      [["repl", "-e", "1"]],
    ];
    for (const [args, stdin] of runs) {
      const { stdout, stderr, status } = await runRt({ args, cwd: project.path, stdin });
      expect({ args, status, isBad: (stdout + stderr).includes("BAD") }).toEqual({
        args,
        status: 0,
        isBad: false,
      });
    }
  });
});
