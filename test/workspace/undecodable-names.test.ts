// Folders whose names are not UTF-8: rt cannot open them, reports that and uses no other package instead.
import { describe, expect, test } from "bun:test";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";
import { resultOf } from "../support/output.ts";
import { scripts } from "../support/workspace.ts";

const PROBLEM = "its name, or that of a folder above, is not UTF-8";
const HINT = "hint: rename the folder: rt needs file names in UTF-8\n";

/** @param words a bash command in which "$RT" is the program */
async function run({ path }: Project, words: string) {
  const child = Bun.spawn(["bash", "-c", words], {
    cwd: path,
    env: cleanEnvironment({ RT }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const { stdout, stderr, status } = await resultOf(child);
  return { stdout, stderr: stderr.replaceAll(path, "$P"), status };
}

// macOS has no such names, and Windows encodes them differently.
describe.if(process.platform === "linux")("a name that is not UTF-8", () => {
  const child = `mkdir -p $'x\\xe9/sub' && echo '{"scripts":{"t":"echo CHILD"}}' > $'x\\xe9/package.json'`;

  test.each([
    ["run t", "x\\xe9", "x\ufffd"],
    ["t", "x\\xe9", "x\ufffd"],
    ["run t", "x\\xe9/sub", "x\ufffd"],
    ["--silent run t", "x\\xe9", "x\ufffd"],
    ["run --parallel t", "x\\xe9", "x\ufffd"],
    ["run --filter '*' t", "x\\xe9", "x\ufffd"],
    ["run", "x\\xe9", "x\ufffd"],
  ])("rt %s in %s fails and does not use the package above", async (words, folder, shown) => {
    await using project = await createProject({
      "package.json": { workspaces: ["other"], scripts: { t: "echo PARENT" } },
      "other/package.json": { name: "other", ...scripts("echo OTHER") },
    });
    expect(await run(project, `${child} && cd $'${folder}' && "$RT" ${words}`)).toEqual({
      stdout: "",
      stderr: `error: Cannot read $P/${shown}: ${PROBLEM}\n${HINT}`,
      status: 1,
    });
  });

  test("the package above is used when an undecodable folder contains no package", async () => {
    await using project = await createProject({ "package.json": scripts("echo PARENT") });
    const words = `mkdir -p $'x\\xe9/sub' && cd $'x\\xe9/sub' && "$RT" --silent run t`;
    expect(await run(project, words)).toEqual({ stdout: "PARENT\n", stderr: "", status: 0 });
  });

  test("code runs in an undecodable folder", async () => {
    await using project = await createProject();
    const words = `${child} && cd $'x\\xe9' && echo 'console.log(1)' > a.ts && "$RT" -e 'console.log(1)'`;
    expect(await run(project, words)).toEqual({ stdout: "1\n", stderr: "", status: 0 });
  });

  test.each([
    ["*", "x\ufffd"],
    ["**", "x\ufffd"],
    ["*/*", "x\ufffd"],
  ])("a member with such a name causes a warning with the pattern packages/%s", async (pattern, shown) => {
    await using project = await createProject({
      "package.json": { workspaces: [`packages/${pattern}`, "packages/other"] },
      "packages/other/package.json": { name: "other", ...scripts("echo OTHER") },
    });
    const { stdout, stderr, status } = await run(
      project,
      `(cd packages && ${child}) && "$RT" run --filter '*' t`,
    );
    expect({ stdout, status }).toEqual({
      stdout: "other t: OTHER\nother t: Exited with code 0\n",
      status: 0,
    });
    expect(stderr.split("\n")[0]).toBe(`warning: Cannot read $P/packages/${shown}: ${PROBLEM}`);
    expect(stderr.split(PROBLEM).length).toBe(2);
  });
});

test("a name with the replacement character U+FFFD works like any other", async () => {
  await using project = await createProject({
    "package.json": { workspaces: ["packages/*"], scripts: { t: "echo PARENT" } },
    "packages/x\ufffd/package.json": { name: "x", ...scripts("echo X; exit") },
    "packages/y\ufffd/a": "",
  });
  const silently = (cwd: string, ...args: string[]) =>
    runRt({ cwd, args: ["--silent", "run", ...args, "t"] });
  expect((await silently(project.join("packages/x\ufffd"))).stdout).toBe("X\n");
  expect((await silently(project.join("packages/y\ufffd"))).stdout).toBe("PARENT\n");
  expect(await silently(project.path, "--filter", "*")).toMatchObject({
    stdout: "x t: X\nx t: Exited with code 0\n",
    stderr: "",
  });
});
