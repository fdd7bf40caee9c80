// Starts scripts of projects with an rtfig.toml from their memo: which changes end it, and which starts have none.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createProject, type Files, type Project } from "../support/project.ts";
import { type Environment, RT, runRt } from "../support/rt.ts";
import { age, memoStarts, type Start } from "./memo-starts.ts";

const IS_LINUX = process.platform === "linux";
const scripts = {
  hello: "echo hello; env | grep -vE '^RT_FRONT=|/..-[A-Za-z0-9]{6}(/|$)'",
  other: "echo other",
};
const ROOT_TABLES = '[tasks.build]\ncommand = "echo build"\n';

const FILES: Files = {
  "ws/package.json": { name: "root", workspaces: ["packages/*"], scripts },
  "ws/rtfig.toml": ROOT_TABLES,
  "ws/packages/a/package.json": { name: "a", scripts },
  "ws/packages/a/rtfig.toml": "[run]\nsilent = false\n",
  "ws/packages/b/package.json": { name: "b", scripts },
  "alone/package.json": { scripts },
  "alone/rtfig.toml": "# nothing\n",
  "member/package.json": { scripts },
  "member/rtfig.toml": '[tasks.hello]\ndepends-on = ["^hello"]\n',
};

let project: Project;
const { run, memos, expectReplay, expectNoReplay } = memoStarts(() => project);

beforeAll(async () => {
  project = await createProject(FILES);
  mkdirSync(project.join("home"));
});

beforeEach(() => rmSync(project.join("home/.cache"), { recursive: true, force: true }));

afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

const HELLO: Start = { args: ["run", "hello"], cwd: "ws/packages/a" };

describe.skipIf(!IS_LINUX)("a script below an rtfig.toml is the same from its memo", () => {
  test.each([
    ["in a member of a workspace", HELLO],
    ["without the word run", { ...HELLO, args: ["hello"] }],
    ["in a member without its own file", { ...HELLO, cwd: "ws/packages/b" }],
    ["in a workspace", { ...HELLO, cwd: "ws" }],
    ["with a file that sets nothing", { ...HELLO, cwd: "alone" }],
    ["that depends on nothing that exists", { ...HELLO, cwd: "member" }],
  ] as ReadonlyArray<readonly [string, Start]>)("%s", async (_, start) => {
    await expectReplay(start);
  });

  test.each([
    ["hidden by rtfig.toml", { "alone/rtfig.toml": "[run]\nsilent = true\n" }, {}],
    ["hidden by npm's variable", {}, { npm_config_loglevel: "silent" }],
  ] as const)("its line stays %s", async (_, files, env) => {
    await project.write(files);
    const start = { ...HELLO, cwd: "alone", env };
    await age();
    const results = [await run(start), await run(start), await run(start, "off")];
    await project.write({ "alone/rtfig.toml": "# nothing\n" });
    expect(memos()).toHaveLength(1);
    expect(results.map(({ stderr }) => stderr)).toEqual(["", "", ""]);
    expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(1);
  });

  test("the memo names every path that strace shows for a start without it", async () => {
    await age();
    await run(HELLO);
    const memo = readFileSync(join(project.join("home/.cache/rt/starts-1"), memos()[0]!), "latin1");
    const trace = project.join("trace");
    await runRt({
      program: ["strace", "-s", "4096", "-o", trace, "-e", "trace=%file,getdents64", RT],
      args: HELLO.args,
      cwd: project.join(HELLO.cwd!),
      env: { HOME: project.join("home"), RT_FRONT: "off" },
    });
    const lines = readFileSync(trace, "utf8").split("\n");
    // The engine's own start is before the first look at the configuration, the shell behind the last start of a program.
    const begin = lines.findIndex((line) => line.includes('rtfig.toml"'));
    const end = lines.findLastIndex((line) => line.startsWith("execve("));
    const shown = new Set<string>();
    for (const line of lines.slice(begin, end)) {
      const [, from, path = ""] = /^\w+\((?:(AT_FDCWD|\d+), )?"((?:[^"\\]|\\.)*)"/.exec(line) ?? [];
      const isBelowDescriptor = from !== undefined && from !== "AT_FDCWD" && !path.startsWith("/");
      const absolute = isBelowDescriptor ? `/${path}` : resolve(project.join(HELLO.cwd!), path);
      // The path of the working directory has no links.
      const isAbove = project.join(HELLO.cwd!).startsWith(`${absolute}/`);
      if (path !== "" && absolute !== "/" && !isAbove && !/^\/(?:proc|dev|sys)\//.test(absolute))
        shown.add(absolute);
    }
    expect(shown.size).toBeGreaterThan(15);
    expect([...shown].filter((path) => !memo.includes(`${path}\0`))).toEqual([]);
  });
});

describe.skipIf(!IS_LINUX)("a memo below an rtfig.toml does not count", () => {
  const CHANGES: ReadonlyArray<readonly [string, Files]> = [
    ["if the file has other keys", { "ws/packages/a/rtfig.toml": "[run]\nsilent = true\n" }],
    ["if the file is invalid", { "ws/packages/a/rtfig.toml": "unknown = 1\n" }],
    ["if the root's file gives dependencies", { "ws/rtfig.toml": '[tasks.hello]\ndepends-on = ["other"]\n' }],
    ["if the root's file gives permissions", { "ws/rtfig.toml": "[permissions]\ndefault = true\n" }],
    [
      "if the script has another text",
      { "ws/packages/a/package.json": { name: "a", scripts: { hello: "echo" } } },
    ],
    [
      "if the workspace has other members",
      { "ws/package.json": { name: "root", workspaces: ["other/*"], scripts } },
    ],
    ["if another package is there", { "ws/packages/c/package.json": { name: "c" } }],
    ["if a nearer workspace is declared", { "ws/packages/pnpm-workspace.yaml": "packages: [a]\n" }],
  ];
  test.each(CHANGES)("%s", async (_, change) => {
    await expectReplay(HELLO);
    await project.write(change);
    try {
      await expectNoReplay(HELLO);
    } finally {
      for (const name of Object.keys(change)) rmSync(project.join(name));
      await project.write(
        Object.fromEntries(Object.keys(change).flatMap((name) => (FILES[name] ? [[name, FILES[name]]] : []))),
      );
    }
  });

  test("if the file is gone", async () => {
    await expectReplay(HELLO);
    rmSync(project.join("ws/packages/a/rtfig.toml"));
    await expectNoReplay(HELLO);
    await project.write({ "ws/packages/a/rtfig.toml": FILES["ws/packages/a/rtfig.toml"]! });
  });

  test.each([
    ["npm's level of messages", { npm_config_loglevel: "silent" }],
    ["the number of tasks", { RT_CONCURRENCY: "none" }],
    ["the places of the cache", { TURBO_CACHE: "local:rw" }],
  ])("for another value of %s", async (_, env) => {
    await expectReplay(HELLO);
    await expectNoReplay({ ...HELLO, env });
  });

  test("an .env file changes nothing about a memo", async () => {
    await expectReplay(HELLO);
    await project.write({ "ws/packages/a/.env": "FROM_FILE=1\nPATH=/\nRT_CONCURRENCY=none\n" });
    const [replayed, without] = [await run(HELLO), await run(HELLO, "off")];
    rmSync(project.join("ws/packages/a/.env"));
    expect(replayed).toEqual({ ...without, stderr: without.stderr.replace("$", "%") });
    expect(replayed.stdout).not.toContain("FROM_FILE");
  });
});

describe.skipIf(!IS_LINUX)("no memo is written below an rtfig.toml", () => {
  test.each<readonly [string, string, Environment, string?]>([
    ["with secrets", '[secrets.TOKEN]\nabout = "x"\n', {}],
    ["with the engine's shell", '[run]\nshell = "rt"\n', {}],
    ["of a task with dependencies", '[tasks.hello]\ndepends-on = ["other"]\n', {}],
    ["of a task that is cached", "[tasks.hello]\ncache = true\n", {}],
    ["of a task with a time limit", '[tasks.hello]\ntimeout = "9s"\n', {}],
    ["with a server for scripts", '[run.remote]\nurl = "grpc://localhost:1"\n', {}],
    ["with a credential of the cache", "[tasks.other]\ncache = true\n", { TURBO_TOKEN: "t" }],
    ["with a warning", ROOT_TABLES, {}, "ws/packages/b"],
  ])("%s", async (_, text, env, cwd = "alone") => {
    await project.write({ [`${cwd}/rtfig.toml`]: text });
    await age();
    const { status, stdout } = await run({ ...HELLO, cwd, env });
    rmSync(project.join(cwd, "rtfig.toml"));
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining("hello") });
    expect(memos()).toEqual([]);
  });
});
