// Tests the environment of scripts, binaries and commands: npm's variables, PATH, and no accidental variables.
import { describe, expect, test } from "bun:test";
import { rm, symlink } from "node:fs/promises";
import { findProgram } from "../../build/system-programs.ts";
import { scriptEnvironment } from "../../src/runner/script/environment.ts";
import { compileProgram } from "../support/programs/programs.ts";
import { createProject, type Files } from "../support/project.ts";
import { ABSENT, RT, type RtOptions, runRt } from "../support/rt.ts";

const SHOW = { "node_modules/.bin/show-env": "#!/bin/sh\nexec env -0\n" };

/** Each script in three shapes: started directly, through the shell, and with a post-hook. */
const SHAPES = { direct: "show-env", shell: "show-env && true", waited: "show-env" };

async function environmentOf(
  script: keyof typeof SHAPES,
  files: Files = {},
  options: RtOptions & { in?: string } = {},
) {
  await using project = await createProject(
    {
      "package.json": {
        name: "@scope/project",
        version: "1.2.3",
        config: { port: 8080, deep: { a: 1, list: ["x", { y: 2 }] }, on: true, none: null },
        engines: { node: ">=20" },
        bin: "cli.js",
        scripts: { ...SHAPES, postwaited: "true" },
      },
      ...SHOW,
      ...files,
    },
    Object.keys(SHOW),
  );
  const { stdout, stderr, status } = await runRt({
    args: ["--silent", "run", script],
    cwd: project.join(options.in ?? "."),
    ...options,
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  const entries = stdout
    .split("\0")
    .filter(Boolean)
    .map((entry) => [
      entry.slice(0, entry.indexOf("=")),
      entry.slice(entry.indexOf("=") + 1).replaceAll(project.path, "$PROJECT"),
    ]);
  return {
    all: Object.fromEntries(entries) as Record<string, string>,
    names: entries.map(([name]) => name!),
    path: project.path,
  };
}

describe.concurrent.each(Object.keys(SHAPES) as (keyof typeof SHAPES)[])(
  "the environment of a script (%s)",
  (script) => {
    test("contains npm's variables and INIT_CWD", async () => {
      const { all, names } = await environmentOf(script, { "a/b/x": "" }, { in: "a/b" });
      expect(all).toMatchObject({
        npm_command: "run-script",
        npm_lifecycle_event: script,
        npm_lifecycle_script: SHAPES[script],
        npm_package_name: "@scope/project",
        npm_package_version: "1.2.3",
        npm_package_json: "$PROJECT/package.json",
        npm_package_config_port: "8080",
        npm_package_config_on: "true",
        npm_package_config_deep_a: "1",
        npm_package_config_deep_list_0: "x",
        npm_package_config_deep_list_1_y: "2",
        npm_package_engines_node: ">=20",
        npm_package_bin_project: "cli.js",
        npm_config_local_prefix: "$PROJECT",
        npm_execpath: RT,
        INIT_CWD: "$PROJECT/a/b",
        PWD: "$PROJECT",
        NODE: findProgram("node"),
        npm_node_execpath: findProgram("node"),
      });
      expect(all.npm_config_user_agent).toMatch(
        new RegExp(`^rt/\\S+ npm/\\? node/v\\S+ ${process.platform} ${process.arch}$`),
      );
      expect([all.npm_package_config_deep, all.npm_package_config_none]).toEqual([undefined, undefined]);
      expect(names.length).toBe(new Set(names).size);
    });

    test("passes rt's own variables on, including odd names and values", async () => {
      const env = { "odd.name": "1", EMPTY: "", LINES_: "a\nb", Ü: "ü", EQUALS: "a=b=c" };
      const { all } = await environmentOf(script, {}, { env });
      // show-env is a shell script, and a shell may drop names that are not valid variables.
      expect(all).toMatchObject({ EMPTY: "", LINES_: "a\nb", EQUALS: "a=b=c" });
      const files = { "package.json": { scripts: { [script]: "env -0" } } };
      expect((await environmentOf(script, files, { env })).all).toMatchObject(env);
    });

    test("lacks values of .env files", async () => {
      const { all } = await environmentOf(script, {
        ".env": `FROM_DOTENV=1\nPATH=${ABSENT}\nNODE_ENV=x`,
        ".env.local": "FROM_LOCAL=1",
      });
      expect([all.FROM_DOTENV, all.FROM_LOCAL, all.NODE_ENV, all.PATH?.startsWith(ABSENT)]).toEqual([
        undefined,
        undefined,
        undefined,
        false,
      ]);
    });

    test("lacks internal variables of rt", async () => {
      const { names } = await environmentOf(script);
      expect(
        names.filter((name) => name.startsWith("BUN") || (name.startsWith("RT_") && name !== "RT_SCRIPTS")),
      ).toEqual([]);
    });
  },
);

test.skipIf(process.platform === "win32")(
  "a script with a hook gets the first of two variables with one name, like getenv() in C",
  async () => {
    await using project = await createProject({
      "package.json": { scripts: { go: "echo $TWICE; echo $TWICE >&2", postgo: "true" } },
    });
    const starter = project.join("starter");
    await compileProgram(
      starter,
      `char *words[] = {"${RT}", "--silent", "go", 0};
       char *entries[] = {"TWICE=first", "PATH=/usr/bin:/bin", "TWICE=last", 0};
       return execve(words[0], words, entries);`,
    );
    expect(await runRt({ program: [starter], cwd: project.path })).toEqual({
      stdout: "first\n",
      stderr: "first\n",
      status: 0,
    });
  },
);

describe.concurrent("PATH of a script", () => {
  test("begins with node_modules/.bin of the package and of every parent directory, and lacks the package itself", async () => {
    const { all, path } = await environmentOf("direct");
    const entries = all.PATH!.split(":");
    expect(entries[0]).toBe("$PROJECT/node_modules/.bin");
    const parents = path
      .split("/")
      .slice(0, -1)
      .map((_, index, parts) => `${parts.slice(0, index + 1).join("/")}/node_modules/.bin`)
      .toReversed();
    expect(entries.slice(1, 1 + parents.length)).toEqual(parents);
    expect(entries.slice(1 + parents.length)).toEqual(process.env.PATH!.split(":"));
    expect(entries).not.toContain("$PROJECT");
  });

  test("lacks a node_modules directly in node_modules for an installed package", async () => {
    const files = { "node_modules/installed/package.json": { scripts: { direct: "show-env" } } };
    const { all } = await environmentOf("direct", files, { in: "node_modules/installed" });
    expect(all.PATH!.split(":").filter((entry) => entry.startsWith("$PROJECT"))).toEqual([
      "$PROJECT/node_modules/installed/node_modules/.bin",
      "$PROJECT/node_modules/.bin",
    ]);
  });

  test("stays the same when scripts call scripts", async () => {
    await using project = await createProject({
      "package.json": {
        scripts: {
          one: `${RT} --silent run two`,
          two: `${RT} --silent run three`,
          three: `${RT} --silent run four`,
          four: "printenv PATH",
        },
      },
    });
    const once = await runRt({ args: ["--silent", "run", "three"], cwd: project.path });
    const nested = await runRt({ args: ["--silent", "run", "one"], cwd: project.path });
    expect(nested).toEqual(once);
    expect(nested.status).toBe(0);
  });

  test("keeps a command that has the name of a file next to package.json", async () => {
    await using project = await createProject(
      { "package.json": { scripts: { go: "printenv MARK" } }, printenv: "#!/bin/sh\necho hijacked\n" },
      ["printenv"],
    );
    expect(await runRt({ args: ["--silent", "go"], cwd: project.path, env: { MARK: "real" } })).toMatchObject(
      { stdout: "real\n" },
    );
  });

  test("may be unset", async () => {
    await using project = await createProject(
      { "package.json": { scripts: { go: "here" } }, "node_modules/.bin/here": "#!/bin/sh\necho found\n" },
      ["node_modules/.bin/here"],
    );
    const result = await runRt({
      program: ["/usr/bin/env", "-u", "PATH", RT],
      args: ["--silent", "go"],
      cwd: project.path,
    });
    expect(result).toEqual({ stdout: "found\n", stderr: "", status: 0 });
  });
});

describe.concurrent("the environment of a binary and of a command", () => {
  const open = async () =>
    await createProject(
      {
        "package.json": { name: "project", version: "1.2.3", config: { port: 8080 } },
        "node_modules/.bin/tool": '#!/bin/sh\nother && printenv "$@"\n',
        "node_modules/.bin/other": "#!/bin/sh\necho other\n",
        "broken/package.json": "{",
        "broken/tool.sh": "#!/bin/sh\nother\n",
        "sub/node_modules/.bin/near": "#!/bin/sh\necho near\n",
      },
      ["node_modules/.bin/tool", "node_modules/.bin/other", "broken/tool.sh", "sub/node_modules/.bin/near"],
    );

  test("contains the other binaries on PATH, and npm's variables", async () => {
    await using project = await open();
    const names = ["npm_package_name", "npm_package_config_port", "npm_execpath", "INIT_CWD"];
    const values = `other\nproject\n8080\n${RT}\n${project.join("sub")}\n`;
    const options = { cwd: project.join("sub") };
    for (const args of [
      ["run", "tool"],
      ["tool"],
      ["run", "sh", "-c", 'other && near >&2; printenv "$@"', "sh"],
    ]) {
      expect(await runRt({ args: [...args, ...names], ...options })).toEqual({
        stdout: values,
        stderr: args[1] === "sh" ? "near\n" : "",
        status: 0,
      });
    }
  });

  test("works without a readable package.json", async () => {
    await using project = await open();
    const other = { stdout: "other\n", stderr: "", status: 0 };
    expect(await runRt({ args: ["./tool.sh"], cwd: project.join("broken") })).toEqual(other);
    await rm(project.join("package.json"));
    expect(await runRt({ args: ["run", "other"], cwd: project.path })).toEqual(other);
  });

  test("stays the same when one program starts another", async () => {
    await using project = await open();
    const run = async (...args: string[]) =>
      (await runRt({ args: ["run", ...args], cwd: project.path })).stdout;
    expect(await run(RT, "run", "printenv", "PATH")).toBe(await run("printenv", "PATH"));
  });
});

test.skipIf(process.platform !== "linux")(
  "a variable that rt sets replaces an inherited one, also with a very large environment",
  async () => {
    const config = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`key${index}`, index]));
    await using project = await createProject({
      "package.json": {
        config,
        scripts: { show: "tr '\\0' '\\n' < /proc/$$/environ | grep ^npm_lifecycle_event=" },
      },
    });
    const env = { npm_lifecycle_event: "old" };
    const { stdout } = await runRt({ args: ["--silent", "run", "show"], cwd: project.path, env });
    expect(stdout).toBe("npm_lifecycle_event=show\n");
  },
);

test.concurrent(
  "INIT_CWD is the working directory of rt, and of the inner rt for a nested script",
  async () => {
    await using project = await createProject({
      "package.json": { scripts: { one: `cd sub && ${RT} --silent run two`, two: "printenv INIT_CWD" } },
      "sub/x": "",
    });
    expect((await runRt({ args: ["--silent", "run", "one"], cwd: project.path })).stdout).toBe(
      `${project.path}/sub\n`,
    );
  },
);

test.concurrent(
  "npm_package_json of a package behind a link contains the real directory, like the working directory",
  async () => {
    await using project = await createProject({
      "real/package.json": { scripts: { where: "printenv npm_package_json; pwd -P" } },
    });
    await symlink("real", project.join("link"));
    const { stdout } = await runRt({ args: ["--silent", "where"], cwd: project.join("link") });
    expect(stdout).toBe(`${project.join("real", "package.json")}\n${project.join("real")}\n`);
  },
);

test.concurrent("--env-file sets variables of a script", async () => {
  await using project = await createProject({
    "package.json": { scripts: { go: "printenv FROM_FILE" } },
    "my.env": "FROM_FILE=yes\n",
  });
  expect(await runRt({ args: ["--silent", "--env-file", "my.env", "run", "go"], cwd: project.path })).toEqual(
    { stdout: "yes\n", stderr: "", status: 0 },
  );
});

describe("scriptEnvironment()", () => {
  const context = {
    package: { directory: "/p", manifest: {} },
    directory: "/p",
    event: "go",
    command: "true",
    initialDirectory: "/p",
    path: "",
    pathSeparator: ":",
    shimDirectories: [],
    runtime: { path: "/rt", userAgent: "rt" },
    nodePath: "/node",
    running: "",
  };

  test("leaves out fields that the package lacks", () => {
    expect(Object.keys(scriptEnvironment(context)).filter((name) => name.startsWith("npm_package_"))).toEqual(
      ["npm_package_json"],
    );
  });

  test("names each value of `config`", () => {
    const manifest = {
      config: {
        a: "x",
        b: 1,
        c: false,
        d: null,
        e: {},
        f: [],
        g: { h: { i: 0 } },
      },
    };
    const environment = scriptEnvironment({ ...context, package: { directory: "/p", manifest } });
    expect(
      Object.entries(environment).filter(
        ([name]) => name.includes("_config_") && name.startsWith("npm_package"),
      ),
    ).toEqual([
      ["npm_package_config_a", "x"],
      ["npm_package_config_b", "1"],
      ["npm_package_config_c", "false"],
      ["npm_package_config_g_h_i", "0"],
    ]);
  });

  test("names each program of `bin`, and a single path after the package", () => {
    const binOf = (manifest: object) =>
      Object.entries(
        scriptEnvironment({ ...context, package: { directory: "/p", manifest: { ...manifest } } }),
      ).filter(([name]) => name.startsWith("npm_package_bin"));
    expect(binOf({ name: "plain", bin: "./a.js" })).toEqual([["npm_package_bin_plain", "./a.js"]]);
    expect(binOf({ bin: { one: "1.js", two: "2.js" } })).toEqual([
      ["npm_package_bin_one", "1.js"],
      ["npm_package_bin_two", "2.js"],
    ]);
  });

  test("puts shim directories first and each entry once", () => {
    const environment = scriptEnvironment({
      ...context,
      shimDirectories: ["/tmp/s"],
      path: "/usr/bin:/p/node_modules/.bin:/bin:/tmp/s",
    });
    expect(environment.PATH).toBe("/tmp/s:/p/node_modules/.bin:/node_modules/.bin:/usr/bin:/bin");
  });
});

test("internal variables of rt are hidden from code that runs in the engine", async () => {
  await using project = await createProject({
    "a.ts": "console.log(Object.keys(process.env).filter((name) => name.startsWith('RT_')).join());",
  });
  for (const options of [[], ["--smol"]]) {
    const { stdout } = await runRt({ args: [...options, "a.ts"], cwd: project.path });
    expect(stdout).toBe("\n");
  }
});

test("RT_BECAME from another process does not change how rt runs a file", async () => {
  await using project = await createProject({
    "bunfig.toml": 'preload = ["./evil.ts"]\n',
    "evil.ts": "console.log('evil')",
    "a.ts": "console.log('mine', typeof rt.secrets.get)",
  });
  const options = { args: ["--smol", "a.ts"], cwd: project.path, env: { RT_BECAME: "1" } };
  expect(await runRt(options)).toEqual({ stdout: "mine function\n", stderr: "", status: 0 });
});

test("npm_config_local_prefix is the package's folder when a program starts in a folder below it", async () => {
  await using project = await createProject(
    {
      "package.json": { name: "project" },
      "below/deep/x": "",
      "node_modules/.bin/prefix": '#!/bin/sh\necho "$npm_config_local_prefix"\n',
    },
    ["node_modules/.bin/prefix"],
  );
  const cwd = project.join("below/deep");
  expect(await runRt({ args: ["run", "prefix"], cwd })).toMatchObject({ stdout: `${project.path}\n` });
});
