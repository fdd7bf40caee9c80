// --env-file with sources that can be read only once: output of a command, standard input, a named pipe. Different processes read
// them for a script and for code.
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, RT } from "../support/rt.ts";
import { resultOf } from "../support/output.ts";

const FILES = {
  "package.json": {
    scripts: { s: "echo $A $B; exit", t: "echo t $A $B; exit", pres2: "echo pre $A", s2: "echo s2 $A; exit" },
  },
  "a.ts": "console.log([process.env.A, process.env.B].join(' ').trim())",
  "b.env": "B=file\n",
};

/** @param words a bash command in which "$RT" is the program */
async function run(words: string): Promise<{ stdout: string; stderr: string; status: number | string }> {
  await using project = await createProject(FILES);
  mkdirSync(project.join("folder"));
  const child = Bun.spawn(["bash", "-c", words], {
    cwd: project.path,
    env: cleanEnvironment({ RT }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  return await resultOf(child);
}

const TARGETS = ["a.ts", "run --silent s"];

test.concurrent.each(
  TARGETS.flatMap((target) => [
    [`"$RT" --env-file=<(echo A=1) ${target}`, "1"],
    [`"$RT" --env-file=<(echo A=1) --env-file=<(echo B=2) ${target}`, "1 2"],
    [`"$RT" --env-file=b.env --env-file=<(echo A=1) ${target}`, "1 file"],
    [`"$RT" --env-file=/dev/fd/3 ${target} 3< <(echo A=1)`, "1"],
    [`"$RT" --env-file=/dev/fd/4 --env-file=/dev/fd/3 ${target} 3< <(echo A=1) 4< <(echo B=2)`, "1 2"],
    [`echo A=1 | "$RT" --env-file=/dev/stdin ${target}`, "1"],
    [`echo A=1 | "$RT" --env-file=/dev/fd/0 ${target}`, "1"],
    [`"$RT" --env-file=/dev/stdin ${target} < b.env`, "file"],
    [`mkfifo ff; (echo A=1 > ff &); "$RT" --env-file=ff ${target}`, "1"],
  ]),
)("%s", async (words, output) => {
  expect(await run(words)).toEqual({ stdout: `${output}\n`, stderr: "", status: 0 });
});

test.concurrent("hooks and several scripts share the variables that were read once", async () => {
  expect(await run(`"$RT" --silent --env-file=<(echo A=1) run s2`)).toMatchObject({
    stdout: "pre 1\ns2 1\n",
  });
  const { stdout } = await run(`"$RT" --silent --env-file=<(echo A=1) --sequential run s t`);
  expect(stdout).toContain("1\n");
  expect(stdout).toContain("t 1\n");
});

test("reading the variables leaves no descriptor that a hook inherits", async () => {
  for (let time = 0; time < 10; time += 1)
    expect(await run(`"$RT" --silent --env-file=b.env run s2`)).toMatchObject({ stderr: "", status: 0 });
});

test.concurrent.each(TARGETS)(
  "%s: a directory and a closed descriptor as --env-file cause a warning",
  async (target) => {
    expect(await run(`"$RT" --env-file=folder --env-file=b.env ${target}`)).toEqual({
      stdout: "file\n",
      stderr: "warning: --env-file: folder is a directory; correct its path, or remove the option\n",
      status: 0,
    });
    expect(await run(`"$RT" --env-file=/dev/fd/77 --env-file=b.env ${target}`)).toEqual({
      stdout: "file\n",
      stderr: "warning: --env-file: there is no /dev/fd/77; correct its path, or remove the option\n",
      status: 0,
    });
  },
);
