// --permissions for what is not a task: files, code, binaries, `rt x` and `rt test`.
import { describe, expect, test } from "bun:test";
import { chmodSync, readdirSync } from "node:fs";
import { openRegistry } from "../options/registry.ts";
import { createProject, type Files } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";
import { AS_OTHER_USER } from "../support/users.ts";
import { placeRt } from "../support/programs/programs.ts";

const READ = `try { console.log(require("fs").readFileSync(process.env.HOME + "/.npmrc", "utf8")) } catch (error) { console.log(error.code) }`;

async function besideHome(files: Files = {}) {
  const binary = `#!/usr/bin/env node\n${READ}\n`;
  return await createProject(
    {
      "home/.npmrc": "token",
      "shop/package.json": { name: "shop" },
      "shop/a.ts": READ,
      "shop/node_modules/.bin/tool": binary,
      "shop/a.test.ts": `import { test } from "bun:test"; test("reads a file of HOME", () => { ${READ} });`,
      ...Object.fromEntries(Object.entries(files).map(([name, content]) => [`shop/${name}`, content])),
    },
    ["shop/node_modules/.bin/tool"],
  );
}

type Line = (options: readonly string[]) => string[];

/** Two command lines of each way to start a program, with options of rt. The second is used with --explain. */
const WAYS: readonly (readonly [name: string, label: string, line: Line, other: Line])[] = [
  [
    "a source file",
    "./a.ts",
    (options) => [...options, "./a.ts"],
    (options) => ["run", ...options, "./a.ts"],
  ],
  [
    "code of an option",
    "the code",
    (options) => [...options, "-e", READ],
    (options) => [...options, "-p", READ],
  ],
  ["a binary", "tool", (options) => [...options, "tool"], (options) => ["run", ...options, "tool"]],
  ["rt x", "rt x tool", (options) => ["x", ...options, "tool"], (options) => [...options, "x", "tool"]],
  ["rt test", "rt test", (options) => ["test", ...options], (options) => [...options, "test"]],
];

describe.skipIf(process.platform !== "linux")("programs that are not tasks", () => {
  for (const [name, label, line, other] of WAYS)
    test(`${name} cannot read HOME with --permissions, and --explain names the file`, async () => {
      await using place = await besideHome();
      const run = (args: readonly string[]) =>
        runRt({ args, cwd: place.join("shop"), env: { HOME: place.join("home") } });
      expect((await run(line([]))).stdout).toContain("token");
      const restricted = await run(line(["--permissions"]));
      expect(restricted.stdout).not.toContain("token");
      expect([restricted.stdout, restricted.status]).toEqual([
        expect.stringContaining("EACCES") as string,
        0,
      ]);
      const explained = await run(other(["--explain=check"]));
      expect(explained.stdout).not.toContain("token");
      expect(explained.stderr).toMatch(
        new RegExp(
          `warning: ${label} was refused: \\S+ \\(process \\d+\\) reads \\S+/home/.npmrc; to allow it, make it a task of rtfig.toml with read = \\["~/.npmrc"\\]`,
        ),
      );
      expect(explained.stderr).toContain(`error: ${label} tried more than its permissions allow\n`);
      expect(explained.status).toBe(1);
    });

  test("rt x fetches a package without its install scripts, and runs its binary with permissions", async () => {
    await using registry = await openRegistry([
      {
        name: "fetched",
        version: "1.2.0",
        files: { "cli.js": `#!/usr/bin/env node\nconsole.log(process.argv[2]); ${READ}` },
        manifest: { bin: { other: "cli.js" }, scripts: { postinstall: "touch $INIT_CWD/../../../ran" } },
      },
    ]);
    await using place = await besideHome();
    const run = (...args: string[]) =>
      runRt({
        args: ["x", "--permissions", ...args],
        cwd: place.join("shop"),
        env: { ...registry.env, HOME: place.join("home"), TMPDIR: place.path },
      });
    for (const words of [["fetched@1"], ["-p", "fetched", "other"]])
      expect((await run(...words, "--flag")).stdout).toBe("--flag\nEACCES\n");
    const { stderr, status } = await run("-p", "fetched", "absent");
    expect([stderr, status]).toEqual([
      expect.stringContaining('error: The package "fetched" has no binary "absent"\n') as string,
      1,
    ]);
    const names = readdirSync(place.path).filter((name) => !name.startsWith("rt-links"));
    expect(names.toSorted()).toEqual(["home", "shop"]);
  });

  test("code on standard input is restricted, and cannot be traced", async () => {
    await using place = await besideHome();
    const run = (option: string) =>
      runRt({ args: [option, "-"], cwd: place.join("shop"), env: { HOME: place.join("home") }, stdin: READ });
    expect((await run("--permissions")).stdout).toBe("EACCES\n");
    expect((await run("--explain")).stderr).toBe(
      "error: --explain cannot be used with code on standard input, which a traced process does not get\nhint: write the code to a file\n",
    );
  });

  test("a file outside of the project is an error", async () => {
    await using place = await besideHome();
    await place.write({ "outside/a.ts": READ });
    const args = ["--permissions", "../outside/a.ts"];
    const { stdout, stderr, status } = await runRt({ args, cwd: place.join("shop") });
    expect([stdout, status]).toEqual(["", 1]);
    expect(stderr).toBe(
      `error: "../outside/a.ts" is outside of the project, which a program with permissions cannot read\nhint: run it in its folder: rt --cwd=${place.join("outside")} --permissions a.ts\n`,
    );
  });

  test("--learn is an error for a file", async () => {
    await using place = await besideHome();
    const { stderr, status } = await runRt({ args: ["--learn", "a.ts"], cwd: place.join("shop") });
    expect([stderr, status]).toEqual([
      "error: --learn works with package.json scripts and tasks only\nhint: write a script in package.json for it, as in: rt run --learn build\n",
      1,
    ]);
  });

  test("a restricted file gets its arguments, standard input, exit code and signal", async () => {
    await using place = await besideHome({
      "b.ts": `console.log(process.argv.slice(2).join(" "), await Bun.stdin.text()); process.exit(3)`,
      "c.ts": `process.kill(process.pid, "SIGTERM"); await Bun.sleep(10000)`,
    });
    const cwd = place.join("shop");
    const { stdout, stderr, status } = await runRt({
      args: ["--permissions", "b.ts", "--explain", "a b"],
      cwd,
      stdin: "input",
    });
    expect([stdout, status]).toEqual(["--explain a b input\n", 3]);
    expect(stderr).toBe(
      'warning: b.ts ran with permissions; if a file was closed to it ("Permission denied"), use --explain, which names the file, or run it without --permissions\n',
    );
    expect((await runRt({ args: ["--permissions", "c.ts"], cwd })).status).toBe("SIGTERM");
    expect(
      (await runRt({ args: ["--permissions", "-p", "process.argv.slice(1)", "--", "-x"], cwd })).stdout,
    ).toContain('"-x"');
  });

  test("a restricted file gets a secret, redacted, and no other variable", async () => {
    await using place = await besideHome({
      "b.ts": `console.log(process.env.API_TOKEN, process.env.OTHER_TOKEN)`,
      "rtfig.toml": '[secrets.API_TOKEN]\nfrom = "shop/api"\n',
    });
    chmodSync(place.path, 0o777);
    await placeRt(place.join("rt"));
    const { stdout } = await runRt({
      program: [...AS_OTHER_USER, place.join("rt")],
      args: ["--permissions", "--secret=API_TOKEN", "b.ts"],
      cwd: place.join("shop"),
      env: { API_TOKEN: "the-token-of-the-api", OTHER_TOKEN: "other", TMPDIR: place.path },
    });
    expect(stdout).toBe("[API_TOKEN] undefined\n");
  });

  test("output of a restricted program that cannot be written is an error, and ends the program", async () => {
    await using place = await besideHome({
      "b.ts": "console.log(1)",
      "rtfig.toml": '[secrets.API_TOKEN]\nfrom = "shop/api"\n',
    });
    const run = (line: string) =>
      runRt({
        program: ["bash", "-c", line, RT],
        args: [],
        cwd: place.join("shop"),
        env: { API_TOKEN: "the-token-of-the-api" },
      });
    const { stderr, status } = await run('"$0" --permissions --secret=API_TOKEN b.ts > /dev/full');
    expect([stderr, status]).toEqual(["error: Cannot write to standard output: ENOSPC\n", 1]);
    const piped = await run(
      '"$0" run --permissions --secret=API_TOKEN yes | head -c 2; echo "${PIPESTATUS[0]}"',
    );
    expect(piped.stdout).toBe("y\n141\n");
  });
});
