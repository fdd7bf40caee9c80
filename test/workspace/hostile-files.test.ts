// Bounded reads of project files: devices, pipes, directories, files larger than memory and endless nesting. Each causes one
// error line that names the file.
import { describe, expect, test } from "bun:test";
import { symlinkSync, truncateSync } from "node:fs";
import { runMeasured } from "../support/programs/measured.ts";
import { createProject, type Files } from "../support/project.ts";
import { cleanEnvironment, RT, startRt } from "../support/rt.ts";

/** In bytes: the program takes 40 MB, and reading 64 MiB three times as much. */
const MAX_MEMORY = 400 * 1024 * 1024;

async function run(cwd: string, args: readonly string[]) {
  const { stdout, stderr, status, memory } = await runMeasured(cwd, args);
  expect(memory).toBeLessThan(MAX_MEMORY);
  return { stdout, stderr: stderr.replaceAll(cwd, "$P"), status };
}

type Place = (file: string) => void | Promise<void>;

const PLACES: Readonly<Record<string, Place>> = {
  device: (file) => symlinkSync("/dev/zero", file),
  pipe: async (file) => void (await Bun.$`mkfifo ${file}`),
  directory: async (file) => void (await Bun.$`mkdir ${file}`),
  loop: (file) => symlinkSync(file, file),
};

const FILES: Files = { "x/a.ts": "console.log(1)", "x/.git/x": "" };

describe.skipIf(process.platform === "win32")("a project file of another kind", () => {
  test.each([
    ["package.json", "device", "$P/package.json: it is larger than 64 MiB"],
    ["package.json", "pipe", "$P/package.json:1:1: expected a value, found the end of the file"],
    ["package.json", "directory", "$P/package.json: it is a directory"],
    ["package.json", "loop", "$P/package.json: its symbolic links form a loop"],
    ["pnpm-workspace.yaml", "device", "$P/pnpm-workspace.yaml: it is larger than 1 MiB"],
    ["pnpm-workspace.yaml", "directory", "$P/pnpm-workspace.yaml: it is a directory"],
    ["rtfig.toml", "device", 'the configuration "rtfig.toml": it is larger than 128 KiB'],
    ["rtfig.toml", "directory", 'the configuration "rtfig.toml": it is a directory'],
  ])("%s as a %s", async (name, kind, problem) => {
    await using project = await createProject(FILES);
    await PLACES[kind]!(project.join("x", name));
    const args = name.startsWith("pnpm") ? ["run", "--filter", "*", "a"] : ["run", "a"];
    expect(await run(project.join("x"), args)).toEqual({
      stdout: "",
      stderr: `error: Cannot read ${problem}\n`,
      status: 1,
    });
  });

  test("a sparse package.json of one gigabyte in a member is rejected", async () => {
    await using project = await createProject({
      "package.json": { workspaces: ["packages/*"] },
      "packages/a/package.json": "",
    });
    truncateSync(project.join("packages/a/package.json"), 1 << 30);
    expect(await run(project.path, ["run", "--filter", "*", "a"])).toEqual({
      stdout: "",
      stderr: "error: Cannot read $P/packages/a/package.json: it is larger than 64 MiB\n",
      status: 1,
    });
  });

  test("an endless env file is rejected for code and for scripts, and a pipe of variables is read once", async () => {
    await using project = await createProject({
      "package.json": { scripts: { s: "echo is $A; exit" } },
      "a.ts": "console.log(process.env.A)",
    });
    symlinkSync("/dev/zero", project.join("endless"));
    for (const target of ["a.ts", "s"]) {
      expect(await run(project.path, ["--env-file=endless", target])).toEqual({
        stdout: "",
        stderr:
          "error: Cannot read endless: it is larger than 64 MiB\nhint: --env-file needs a file of variables\n",
        status: 1,
      });
    }
    const { stdout } = await Bun.$`bash -c ${'"$RT" --env-file=<(echo A=1) a.ts'}`
      .cwd(project.path)
      .env(cleanEnvironment({ RT }))
      .quiet();
    expect(stdout.toString()).toBe("1\n");
  });

  test("an endless .gitignore is ignored", async () => {
    await using project = await createProject({ "a.ts": "console.log(1); process.exit(3)" });
    symlinkSync("/dev/zero", project.join(".gitignore"));
    const child = startRt({ cwd: project.path, args: ["--watch", "run", "./a.ts"] });
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toContain("1\n");
    child.kill();
    await child.exited;
  });
});

describe("endless nesting", () => {
  const deep = (open: string, inside: string, close: string) => `${open.repeat(50_000)}${inside}${close}`;

  test.each<[what: string, files: Files, args: string[], stderr: string]>([
    [
      "arrays that are never closed",
      { "package.json": deep("[", "", "") },
      ["run", "a"],
      "error: Cannot read $P/package.json:1:1001: expected at most 1000 nested levels\n",
    ],
    [
      "values of config",
      {
        "package.json": `{ "scripts": { "a": "exit; :" }, "config": ${deep("[", "1", "]".repeat(50_000))} }`,
      },
      ["run", "a"],
      "error: A value in package.json is nested too deeply for environment variables\n" +
        'hint: check "config", "engines" and "bin"\n',
    ],
    [
      "pnpm-workspace.yaml",
      { "package.json": {}, "pnpm-workspace.yaml": `packages:\n  - a\nb: ${deep("[", "", "")}` },
      ["run", "--filter", "*", "a"],
      "error: Cannot read $P/pnpm-workspace.yaml:3: nested too deeply\n",
    ],
    [
      "rtfig.toml",
      { "rtfig.toml": `# x\n[run]\nshell = ${deep("[", "", "")}` },
      ["run", "a"],
      "error: rtfig.toml:3: nested too deeply\n",
    ],
  ])("in %s is reported in one line", async (_, files, args, stderr) => {
    await using project = await createProject(files);
    expect(await run(project.path, args)).toEqual({ stdout: "", stderr, status: 1 });
  });
});

test("a hundred thousand values of config fail with one error line, and ten thousand become variables", async () => {
  const config = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v".repeat(20)]));
  const scripts = { a: "echo $npm_package_config_k9999 $npm_lifecycle_event; :" };
  await using project = await createProject({
    "many/package.json": { scripts, config: config(10_000) },
    "most/package.json": { scripts, config: config(100_000) },
  });
  expect(await run(project.join("many"), ["run", "--silent", "a"])).toEqual({
    stdout: `${"v".repeat(20)} a\n`,
    stderr: "",
    status: 0,
  });
  expect(await run(project.join("most"), ["run", "--silent", "a"])).toEqual({
    stdout: "",
    stderr:
      'error: Cannot run the script "a": its arguments and variables are too long for this system\n' +
      "hint: each value of config in package.json is a variable\n",
    status: 126,
  });
});
