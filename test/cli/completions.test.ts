// Completions in the real shells: each loads the script that rt prints and completes a line.
import { expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { COMMANDS } from "../../src/options/commands.ts";
import { GUIDES } from "../../src/cli/help/guides.ts";
import { SECRETS_COMMANDS } from "../../src/secrets/commands.ts";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, expectRt, RT, runRt } from "../support/rt.ts";

const FILES = {
  "package.json": {
    workspaces: ["packages/*"],
    scripts: { dev: "serve", "dev:watch": "serve --watch", build: "make" },
  },
  "packages/app/package.json": { name: "@shop/app", scripts: { start: "serve", stop: "kill" } },
  "packages/api/package.json": { name: "@shop/api", scripts: { start: "serve" } },
  "device.ts": "",
  "dev.ts": "",
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

test("completions offer what a command takes", async () => {
  expect((await complete("cache", "")).values).toContain("prune");
  expect(await complete("cache", "im")).toEqual({ values: ["import"], files: false });
  expect((await complete("debug-config", "z")).values).toEqual(["zed"]);
});

test("completions offer scripts and commands as the first word", async () => {
  const { values } = await complete("b");
  expect(values).toEqual(["build", "build"]);
});

test("a script of several lines is described in one line", async () => {
  await expectRt({
    files: { "package.json": { scripts: { many: "echo a\n\techo b" } } },
    args: ["completions", "query", "--", "run", "man"],
    stdout: "many\techo a echo b\n:files\n",
  });
});

test("completions omit names with control characters and escape such descriptions", async () => {
  const hostile = ["a\n:files", "b\nrm -rf ~\tx", "c\x1b[2J", "d\u202e", "e\tf"];
  const scripts = Object.fromEntries([...hostile, "fine"].map((name) => [name, "echo \x1b]0;x\x07\u2066"]));
  await expectRt({
    files: {
      "package.json": { scripts, workspaces: ["p/*"] },
      "p/a\x1b[2J/package.json": { name: "good" },
      "p/b/package.json": { name: "bad\x1b[2J" },
    },
    args: ["completions", "query", "--", "run", ""],
    stdout: String.raw`fine${"\t"}echo \u001b]0;x\u0007\u2066${"\n"}:files${"\n"}`,
  });
});

test("completions offer the packages of the workspace for --filter", async () => {
  expect((await complete("run", "--filter", "")).values).toEqual(["@shop/api", "@shop/app"]);
  expect((await complete("run", "--filter=@shop/ap")).values).toEqual([
    "--filter=@shop/api",
    "--filter=@shop/app",
  ]);
});

test("completions offer scripts of all packages when an option selects packages", async () => {
  for (const option of [
    ["--filter", "@shop/app"],
    ["--filter=@shop/app"],
    ["-F@shop/app"],
    ["--workspaces"],
  ]) {
    expect(await complete("run", ...option, "s")).toEqual({ values: ["start", "stop"], files: true });
  }
  expect((await complete("run", "s")).values).toEqual([]);
});

test("completions offer further scripts with --parallel and --sequential", async () => {
  expect((await complete("run", "--parallel", "dev", "bui")).values).toEqual(["build"]);
  expect((await complete("--sequential", "run", "dev", "build", "de")).values).toEqual(["dev", "dev:watch"]);
  expect((await complete("run", "--parallel", "dev", "--", "bui")).values).toEqual([]);
  expect((await complete("run", "dev", "bui")).values).toEqual([]);
});

test("completions offer the options of rt upgrade", async () => {
  expect((await complete("upgrade", "--")).values).toEqual(["--sha256", "--allow-downgrade", "--rollback"]);
});

test("completions offer the choices of an option", async () => {
  expect((await complete("--unhandled-rejections", "w")).values).toEqual(["warn", "warn-with-error-code"]);
});

test("completions offer files after the target", async () => {
  expect(await complete("run", "dev", "--wat")).toEqual({ values: [], files: true });
});

test("completions offer the subcommands, options and values of rt's commands, and no files", async () => {
  const { values, files } = await complete("secrets", "");
  expect({ values, files }).toEqual({ values: Object.keys(SECRETS_COMMANDS), files: false });
  expect(await complete("secrets", "get", "--")).toEqual({
    values: ["--json", "--help", "--file", "--config"],
    files: false,
  });
  expect(await complete("secrets", "get", "s")).toEqual({ values: [], files: false });
  expect(await complete("--smol", "doctor", "--j")).toEqual({ values: ["--json"], files: false });
  expect((await complete("completions", "")).values).toEqual(["bash", "zsh", "fish", "powershell"]);
  expect((await complete("debug-config", "")).values).toEqual(["vscode", "webstorm", "zed", "nvim", "helix"]);
});

test("completions after a command offer the values of its own options, not of options with the same name", async () => {
  const tools = ["git", "docker", "aws", "npm"];
  expect(await complete("secrets", "helper", "--install", "")).toEqual({ values: tools, files: false });
  expect((await complete("secrets", "helper", "--install", "git", "")).values).toEqual([
    "get",
    "store",
    "erase",
  ]);
  expect(await complete("secrets", "check", "--install", "")).toEqual({ values: [], files: true });
  expect(await complete("secrets", "set", "--file", "")).toEqual({ values: [], files: true });
  expect(await complete("secrets", "share", "--file", "secrets.age", "r")).toEqual({
    values: ["remove"],
    files: false,
  });
  expect(await complete("secrets", "import", "--service", "")).toEqual({ values: [], files: false });
  expect(await complete("trust", "--config", "")).toEqual({ values: [], files: true });
});

test("completions offer guides and commands after help, each once", async () => {
  const { values } = await complete("help", "");
  expect(values.toSorted()).toEqual(
    [...new Set([...Object.keys(GUIDES), ...Object.keys(COMMANDS)])].toSorted(),
  );
  expect((await complete("help", "de")).values).toEqual(["debugging", "debugger", "debug-config", "dedupe"]);
  expect((await complete("help", "--")).values).toEqual(["--man"]);
});

test("completions treat a script with a command's name as a script only after `run`", async () => {
  expect(await complete("run", "secrets", "")).toEqual({ values: [], files: true });
});

test("completions list the supported shells when the shell is unknown", async () => {
  await expectRt({
    args: ["completions", "tcsh"],
    stderr: /^error: Unsupported shell "tcsh"\nhint: .*zsh/,
    status: 1,
  });
});

/** Lines to complete, and one of the words that must be offered. */
const LINES = [
  { words: ["run", "dev"], offered: "dev:watch" },
  { words: ["secrets", ""], offered: "delete" },
  { words: ["help", "c"], offered: "csrf" },
] as const;

type Line = (typeof LINES)[number];

function bashCommands(lines: readonly Line[]): string {
  const completed = lines.map(({ words }) => {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    return `COMP_WORDS=(rt ${quoted}); COMP_CWORD=${words.length}; _rt; printf "%s\\n" "\${COMPREPLY[@]}"`;
  });
  return ['eval "$(rt completions bash)"', ...completed].join("\n");
}

/** Commands for a shell that print the offered words for each line. */
const SHELLS: Readonly<Record<string, (lines: readonly Line[]) => string>> = {
  bash: bashCommands,
  "bash without compopt, as on macOS": (lines) => `enable -n compopt; ${bashCommands(lines)}`,
  fish: (lines) =>
    ["rt completions fish | source", ...lines.map(({ words }) => `complete -C "rt ${words.join(" ")}"`)].join(
      "\n",
    ),
  // Ctrl-U deletes the previous line.
  zsh: (lines) => `zmodload zsh/zpty; zpty z zsh -f -i
zpty -w z 'autoload -U compinit; compinit -u; source <(rt completions zsh); PS1=; echo READY'
zpty -r z output '*READY*READY*'
${lines
  .map(
    ({ words, offered }) => `zpty -n -w z $'\\x15rt ${words.join(" ")}\\t'
zpty -r z output '*${offered}*'
print -r -- "$output"`,
  )
  .join("\n")}`,
};

for (const [shell, script] of Object.entries(SHELLS)) {
  test(`completions work in ${shell}`, async () => {
    await using project = await createProject(FILES);
    await symlink(RT, project.join("rt"));
    const environment = cleanEnvironment({ TERM: "xterm", HOME: project.path });
    environment.PATH = `${project.path}:${environment.PATH}`;
    const child = Bun.spawn([shell.split(" ", 1)[0]!, "-c", script(LINES)], {
      cwd: project.path,
      env: environment,
      stdout: "pipe",
      stderr: "ignore",
    });
    const output = await new Response(child.stdout).text();
    for (const { offered } of LINES) expect(output).toContain(offered);
    // This shell cannot complete files, so rt's script does.
    if (shell.startsWith("bash ")) expect(output).toContain("dev.ts");
  });
}
