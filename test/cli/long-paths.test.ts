// Names and working directories that are longer than the system's limits for a name and a path.
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { expectRt, RT, runRt } from "../support/rt.ts";

/** Around the limits of names (255) and paths (4096), and far beyond. */
const LENGTHS = [255, 256, 4095, 4096, 4097, 4100, 70_000];
const SHOWN = 200;

const FOLDER_HINT = "--cwd needs a directory that exists";
const NO_PACKAGES = "No workspace packages matched the filter";

/** Shortens a name like rt's messages. */
const shortened = (name: string) => (name.length > SHOWN ? `${name.slice(0, SHOWN)}...` : name);

const FILES = { "package.json": { scripts: { t: "echo t" } } };

describe.each(LENGTHS)("a name of %i characters", (length) => {
  const name = "n".repeat(length);
  const path = "p/".repeat(Math.ceil(length / 2)).slice(0, length - 1) + "x";

  const SCRIPT_HINT = `\`rt run\` lists the scripts; \`rt x ${name}\` runs the package of that name`;

  test.each<[kind: string, args: string[], error: string, hint: string]>([
    ["as the first word", [name], `Script not found "${shortened(name)}"`, SCRIPT_HINT],
    ["as a file", [`./${name}`], `Module not found "${shortened(`./${name}`)}"`, ""],
    ["as a path of several folders", [`./${path}`], `Module not found "${shortened(`./${path}`)}"`, ""],
    ["as a source file", [`${name}.ts`], `Module not found "${shortened(`${name}.ts`)}"`, ""],
    ["as a script of rt run", ["run", name], `Script not found "${shortened(name)}"`, SCRIPT_HINT],
    ["as a file of rt run", ["run", `./${path}.ts`], `Module not found "${shortened(`./${path}.ts`)}"`, ""],
    ["of --cwd", [`--cwd=${path}`, "run", "t"], `Cannot work in "${path}"`, FOLDER_HINT],
    ["of --cwd after run", ["run", "--cwd", name, "t"], `Cannot work in "${name}"`, FOLDER_HINT],
    ["of --filter", ["run", "--filter", name, "t"], `${NO_PACKAGES} "${name}"`, ""],
    ["of --filter as a path", ["run", "--filter", `./${path}`, "t"], `${NO_PACKAGES} "./${path}"`, ""],
    [
      "of many scripts",
      ["run", "--parallel", name],
      `Script "${name}" not found`,
      "`rt run` lists the scripts",
    ],
  ])("causes one error %s", (_kind, args, error, hint) =>
    expectRt({
      files: FILES,
      args,
      stderr: `error: ${error}\n${hint !== "" ? `hint: ${hint}\n` : ""}`,
      status: 1,
    }),
  );

  test("works as the name of a script", () =>
    expectRt({
      files: { "package.json": { scripts: { [name]: "echo long" } } },
      args: ["run", "--silent", name],
      stdout: "long\n",
    }));

  test("causes a warning when --env-file names it", () =>
    expectRt({
      files: FILES,
      args: ["run", "--silent", `--env-file=${name}`, "t"],
      stdout: "t\n",
      stderr: `warning: --env-file: there is no ${name}; correct its path, or remove the option\n`,
    }));
});

/** Creates folders below the project until the path has `length` characters, then starts rt there. */
async function runBelow(project: string, length: number, args: readonly string[]) {
  const program = [
    "python3",
    "-c",
    `import os, sys
length = int(sys.argv[1])
at = len(os.path.realpath(os.getcwd()))
while at < length:
    size = min(200, length - at - 1)
    if length - at - 1 - size == 1: size -= 1
    os.mkdir("d" * size)
    os.chdir("d" * size)
    at += size + 1
with open("package.json", "w") as file: file.write('{ "scripts": { "t": "echo deep" } }')
with open("x.ts", "w") as file: file.write("console.log('file')")
os.execv(sys.argv[2], sys.argv[2:])`,
    String(length),
    RT,
  ];
  return await runRt({ program, args, cwd: project });
}

describe.skipIf(process.platform !== "linux")("a working directory near the system's longest path", () => {
  test.each<string[]>([
    ["run", "t"],
    ["t"],
    ["x.ts"],
    ["run"],
    ["run", "--filter", "*", "t"],
    ["-e", "1"],
    ["exec", "pwd"],
  ])("fails with its length beyond PATH_MAX: rt %s %s", async (...args) => {
    await using project = await createProject();
    expect(await runBelow(project.path, 4096, args)).toEqual({
      stdout: "",
      stderr:
        "error: The path of the working directory is too long for this system (ERANGE)\n" +
        "hint: change to a parent directory, or move this one to a shorter path\n",
      status: 1,
    });
  });

  test("runs scripts and files when the longest path in it fits", async () => {
    await using project = await createProject();
    expect(await runBelow(project.path, 4070, ["run", "--silent", "t"])).toEqual({
      stdout: "deep\n",
      stderr: "",
      status: 0,
    });
    await using other = await createProject();
    const { stdout, status } = await runBelow(other.path, 4070, ["x.ts"]);
    expect([stdout, status]).toEqual(["file\n", 0]);
  });

  test("fails with the path of the package.json when that is too long", async () => {
    await using project = await createProject();
    const { stdout, stderr, status } = await runBelow(project.path, 4090, ["run", "t"]);
    expect([stdout, status]).toEqual(["", 1]);
    expect(stderr).toMatch(/^error: Cannot read [^\n]*\/package\.json: ENAMETOOLONG\n$/);
  });
});
