// Completions, in the real shells: each loads the script that rt prints and completes a line.
import { expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, expectRt, RT, runRt } from "../support/rt.ts";

const FILES = {
  "package.json": {
    workspaces: ["packages/*"],
    scripts: { dev: "serve", "dev:watch": "serve --watch", build: "make" },
  },
  "packages/app/package.json": { name: "@shop/app" },
  "packages/api/package.json": { name: "@shop/api" },
  "device.ts": "",
};

async function complete(...words: string[]) {
  await using project = await createProject(FILES);
  const { stdout, stderr, status } = await runRt({
    args: ["completions", "query", "--", ...words],
    cwd: project.path,
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  const lines = stdout
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "");
  return {
    values: lines.filter((line) => line !== ":files").map((line) => line.split("\t")[0]),
    files: lines.includes(":files"),
  };
}

test("completions offer scripts and files after `run`", async () => {
  expect(await complete("run", "de")).toEqual({ values: ["dev", "dev:watch"], files: true });
});

test("completions offer scripts and commands in the first place", async () => {
  const { values } = await complete("b");
  expect(values).toEqual(["build", "build"]);
});

test("completions offer the packages of the workspace for --filter", async () => {
  expect((await complete("run", "--filter", "")).values).toEqual(["@shop/api", "@shop/app"]);
  expect((await complete("run", "--filter=@shop/ap")).values).toEqual([
    "--filter=@shop/api",
    "--filter=@shop/app",
  ]);
});

test("completions offer the values of an option that has a list", async () => {
  expect((await complete("--unhandled-rejections", "w")).values).toEqual(["warn", "warn-with-error-code"]);
});

test("completions leave what follows the target to files", async () => {
  expect(await complete("run", "dev", "--wat")).toEqual({ values: [], files: true });
});

test("completions say for which shells they are", async () => {
  await expectRt({
    args: ["completions", "tcsh"],
    stderr: /^error: No completions for "tcsh"\nhint: .*zsh/,
    status: 1,
  });
});

const SHELLS = {
  bash: 'source <(rt completions bash); COMP_WORDS=(rt run de); COMP_CWORD=2; _rt; printf "%s\\n" "${COMPREPLY[@]}"',
  "bash without compopt, as on macOS":
    'enable -n compopt; eval "$(rt completions bash)"; COMP_WORDS=(rt run de); COMP_CWORD=2; _rt; printf "%s\\n" "${COMPREPLY[@]}"',
  fish: 'rt completions fish | source; complete -C "rt run de"',
  zsh: `zmodload zsh/zpty; zpty z zsh -f -i
zpty -w z 'autoload -U compinit; compinit -u; source <(rt completions zsh); PS1=; echo READY'
zpty -r z output '*READY*READY*'
zpty -n -w z $'rt run dev\\t'
zpty -r z output '*dev:watch*'
print -r -- "$output"`,
} as const;

for (const [shell, script] of Object.entries(SHELLS)) {
  test(`completions work in ${shell}`, async () => {
    await using project = await createProject(FILES);
    await symlink(RT, project.join("rt"));
    const environment = cleanEnvironment({ TERM: "xterm", HOME: project.path });
    environment.PATH = `${project.path}:${environment.PATH}`;
    const child = Bun.spawn([shell.split(" ", 1)[0]!, "-c", script], {
      cwd: project.path,
      env: environment,
      stdout: "pipe",
      stderr: "ignore",
    });
    const output = await new Response(child.stdout).text();
    expect(output).toContain("dev:watch");
    if (shell.startsWith("bash ")) expect(output).toContain("device.ts");
  });
}
