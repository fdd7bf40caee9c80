// The table of keys, and the errors for invalid files.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { KEYS } from "../../src/config/keys.ts";
import { optionsOf, parseConfig } from "../../src/config/rtfig.ts";
import { UserError } from "../../src/user-error.ts";
import { OPTIONS } from "../../src/options/options.ts";
import { runIn } from "../options/prove.ts";
import { REPOSITORY } from "../support/rt.ts";
import { shownKeys } from "./effects.ts";

const EXAMPLE = join(REPOSITORY, "rtfig.toml.example");

describe("the table of keys", () => {
  test("contains only keys whose effect is tested", async () => {
    const shown = await shownKeys();
    expect(KEYS.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([]);
    expect([...shown].filter((name) => !KEYS.some((key) => key.name === name))).toEqual([]);
  });

  test("contains unique names and existing options", () => {
    const names = KEYS.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    for (const { as } of KEYS) {
      const options =
        typeof as === "string" ? [as] : Object.values(as ?? {}).flatMap((words) => words?.[0] ?? []);
      for (const name of options) expect(OPTIONS.map((option) => option.name)).toContain(name);
    }
  });

  test("matches the examples of rtfig.toml.example", async () => {
    const found = new Set<string>();
    let section = "";
    for (const line of (await Bun.file(EXAMPLE).text()).split("\n")) {
      if (line.startsWith("[")) section = line;
      const assignment = /^# (["\w.-]+ = .+)$/.exec(line)?.[1];
      if (!assignment) continue;
      const { settings } = parseConfig(`${section}\n${assignment}\n`, "example");
      expect(settings.length).toBe(1);
      found.add(settings[0]!.key.name);
    }
    expect(KEYS.map(({ name }) => name).filter((name) => !found.has(name))).toEqual([]);
  });

  test("accepts rtfig.toml.example, whose examples are comments", async () => {
    expect(parseConfig(await Bun.file(EXAMPLE).text(), "example").settings).toEqual([]);
  });
});

function failureOf(text: string): [message: string, hint: UserError["hint"]] {
  try {
    parseConfig(text, "rtfig.toml");
  } catch (error) {
    if (error instanceof UserError) return [error.message, error.hint];
    throw error;
  }
  throw new Error("was accepted");
}

describe("parseConfig()", () => {
  test("reports the line of an unknown key and suggests a similar one", () => {
    const text = '# comment\nsmol = true\n\n[run]\nshell = "rt"\nsilnt = true\n';
    expect(failureOf(text)).toEqual(['rtfig.toml:6: Unknown key "run.silnt"', "did you mean run.silent?"]);
    expect(failureOf("[nothing.like.it]\nx = 1")).toEqual([
      'rtfig.toml:1: Unknown key "nothing"',
      "rtfig.toml.example lists the keys",
    ]);
    // A quoted name is one part, even with a dot.
    for (const text of ['"run.silent" = true', '["run.secrets"]\nsecrets.x = ["A"]'])
      expect(failureOf(text)[0]).toStartWith('rtfig.toml:1: Unknown key "run.s');
    expect(failureOf("smo = true")).toEqual(['rtfig.toml:1: Unknown key "smo"', "did you mean smol?"]);
    expect(failureOf('[install.registry]\nurl = "x"\ntoken2 = "y"')[0]).toStartWith(
      "rtfig.toml:3: Unknown key",
    );
    expect(failureOf('install.registry.token2 = "y"')[0]).toStartWith("rtfig.toml:1: Unknown key");
  });

  test("reports the right line for dotted keys, after strings of several lines, and for escaped names", () => {
    for (const text of [
      "# comment\nrun.silent = true\nrun.foo.bar = 1",
      "[run]\nsilent = true\n[x.y]\nq = 1",
    ])
      expect(failureOf(text)[0]).toStartWith("rtfig.toml:3: ");
    for (const quotes of ['"""', "'''"])
      expect(failureOf(`[install]\nca = ${quotes}\n[run]\nsilent = 3\n${quotes}\n[run]\nsilent = 3`)[0]).toBe(
        "rtfig.toml:7: run.silent needs true or false, not 3",
      );
    expect(failureOf('[install]\nca = """ """ # """\n[run]\nsilent = 3')[0]).toStartWith("rtfig.toml:4: ");
    expect(failureOf('[run]\n"sil\\u0065nt" = 3')[0]).toStartWith("rtfig.toml:2: ");
  });

  test("reports the line of a value of the wrong type, without the value", () => {
    expect(failureOf('\nsmol = "yes"')[0]).toBe("rtfig.toml:2: smol needs true or false, not a string");
    expect(failureOf("[console]\n\ndepth = 1.5")[0]).toBe(
      "rtfig.toml:3: console.depth needs a whole number, not a fraction",
    );
    expect(failureOf("preload = [1]")[0]).toBe(
      "rtfig.toml:1: preload needs a string or a list of strings, not a list",
    );
    expect(failureOf('[define]\n"a.b" = 1')[0]).toBe(
      "rtfig.toml:2: define.* needs a string, not 1".replace("*", "a.b"),
    );
    expect(failureOf("run = 1")[0]).toBe("rtfig.toml:1: run is a table");
    expect(failureOf("smol = 2020-01-01T00:00:00Z")[0]).toContain("not a date");
    expect(failureOf("[install.registry]\ntoken = true")[0]).toContain(
      "rtfig.toml:2: install.registry.token needs",
    );
  });

  test("accepts the least and the greatest number of a key, and rejects others", () => {
    for (const port of [0, 65_535])
      expect(parseConfig(`[serve]\nport = ${port}`, "x").settings[0]!.value).toBe(port);
    expect(parseConfig("[run]\nconcurrency = 1", "x").settings[0]!.value).toBe(1);
    expect(failureOf("[serve]\nport = 65536")[0]).toContain("from 0 to 65535, not 65536");
    expect(failureOf("[run]\nconcurrency = 0")[0]).toContain("from 1 up, not 0");
    expect(failureOf("[run]\nelide-lines = -1")[0]).toContain("needs a whole number, not -1");
  });

  test("lists the valid values of a key", () => {
    expect(failureOf('[run]\nshell = "fish"')).toEqual([
      'rtfig.toml:2: run.shell cannot be "fish"',
      "use one of: rt, system",
    ]);
  });

  test("reports the line of a TOML syntax error", () => {
    expect(failureOf("smol = true\n\n[run]\nsilent = = true\nrt = true\n")[0]).toStartWith("rtfig.toml:4: ");
    expect(failureOf('define = { a = "b"\nsmol = true')[0]).toStartWith("rtfig.toml:1: ");
    expect(failureOf("smol = true\nsmol = false")[0]).toStartWith("rtfig.toml:2: ");
  });

  test("returns options in the order of the file", () => {
    const words = optionsOf(
      parseConfig(
        'preload = ["./a.ts", "./b.ts"]\nenv = false\n[run]\nsilent = false\nelide-lines = 3\n',
        "x",
      ),
    ).map(({ option, value }) => [option.name, value]);
    expect(words).toEqual([
      ["preload", "./a.ts"],
      ["preload", "./b.ts"],
      ["no-env-file", undefined],
      ["elide-lines", "3"],
    ]);
  });
});

describe("rt", () => {
  const program = { "a.ts": 'console.log("ran")', "package.json": { scripts: { s: "echo ran" } } };
  const failure = async (config: string, args: readonly string[]) =>
    await runIn({ ...program, "rtfig.toml": config }, args);

  test("runs nothing when the configuration is invalid", async () => {
    for (const args of [["a.ts"], ["--smol", "a.ts"], ["run", "s"], ["-p", "1"], ["test"], ["install"]]) {
      expect(await failure("\nsmoll = true", args)).toEqual({
        stdout: "",
        stderr: 'error: rtfig.toml:2: Unknown key "smoll"\nhint: did you mean smol?\n',
        status: 1,
      });
    }
  });

  test("reports the line of a number that is out of range", async () => {
    const cases = [
      ["[serve]\nport = 65536", ["a.ts"], "serve.port needs a whole number from 0 to 65535, not 65536"],
      ["[run]\nconcurrency = 0", ["run", "s"], "run.concurrency needs a whole number from 1 up, not 0"],
    ] as const;
    for (const [config, args, message] of cases) {
      expect(await failure(config, args)).toEqual({
        stdout: "",
        stderr: `error: rtfig.toml:2: ${message}\n`,
        status: 1,
      });
    }
  });

  test("reports a folder given as the configuration", async () => {
    expect(await runIn({ ...program, "folder/x": "" }, ["--config=folder", "a.ts"])).toEqual({
      stdout: "",
      stderr: 'error: Cannot read the configuration "folder": it is a directory\n',
      status: 1,
    });
  });

  test("reports a configuration that does not exist", async () => {
    expect(await runIn(program, ["--config=other.toml", "a.ts"])).toEqual({
      stdout: "",
      stderr:
        'error: Cannot read the configuration "other.toml": no such file\nhint: --config needs a file that exists\n',
      status: 1,
    });
  });

  test("runs a file in its own process when the configuration has settings for scripts alone", async () => {
    const { stderr } = await runIn(
      { ...program, "rtfig.toml": '[run]\nsilent = true\n[test]\nroot = "test"\n[install]\nexact = true' },
      ["a.ts"],
      { env: { RT_DEBUG: "plan" } },
    );
    expect(JSON.parse(stderr).mode).toBe("in-process");
  });

  describe("with a preload and a plaintext credential", () => {
    const config = (line: string) => `preload = "./p.ts"\nsmol = true\n[install]\n${line}\n`;
    const files = { ...program, "p.ts": "" };

    test.each([
      ["install.registry.token", 'registry.token = "secret-7"'],
      ["install.registry.password", 'registry.password = "secret-7"'],
      ["install.registry.url", 'registry.url = "http://me:secret-7@127.0.0.1:9/"'],
    ])("rejects %s", async (name, line) => {
      const refused = await runIn({ ...files, "rtfig.toml": config(line) }, ["a.ts"]);
      expect(refused).toEqual({
        stdout: "",
        stderr: `error: rtfig.toml: ${name} cannot be a plaintext credential together with preload\nhint: set NAME to it in the environment, and add to [install.registry] of rtfig.toml: ${name.split(".").at(-1)} = "$NAME"\n`,
        status: 1,
      });
    });

    test("passes on a token that names a variable", async () => {
      const line = 'registry = { url = "http://127.0.0.1:9/", token = "$SECRET" }';
      const { status, stdout } = await runIn({ ...files, "rtfig.toml": config(line) }, ["a.ts"]);
      expect([status, stdout]).toEqual([0, "ran\n"]);
    });
  });

  test("passes the configuration on to child processes, without its own copy of it", async () => {
    const { stdout } = await runIn(
      {
        "rtfig.toml": 'preload = "./p.ts"\ntelemetry = false\n[run]\nshell = "rt"',
        "p.ts": "globalThis.preloaded = true",
        "a.ts": `import { fork } from "node:child_process";
          if (process.argv[2]) console.log("child", globalThis.preloaded, typeof rt.secrets);
          else { console.log(process.execArgv.some((word) => word.startsWith("--config"))); fork(import.meta.path, ["child"]); }`,
      },
      ["a.ts"],
    );
    expect(stdout).toBe("false\nchild true object\n");
  });
});
