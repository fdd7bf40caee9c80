// `rt --watch run` of cached scripts: a change restarts only the scripts whose recorded dependencies it affects. An unwanted
// restart is detected in the output up to the end of the next expected run.
import { expect, test } from "bun:test";
import { mkdir, rename, rm, symlink, unlink } from "node:fs/promises";
import { startLive } from "../options/live.ts";
import { createProject, type Files, type Project } from "../support/project.ts";

interface Watched extends AsyncDisposable {
  readonly project: Project;
  /** Returns the lines of the round, without times and totals. */
  round(): Promise<string[]>;
  /** Changes files while rt is stopped, so that it receives all events at once. */
  changeWhileStopped(line: string): void;
  /** Resolves with the matching output. */
  waitForOutput(pattern: RegExp | string): Promise<string>;
}

const TOTALS = /^$|^\d+ scripts in |^Slowest: |^hint: |^\$ |waiting for a change$/;

interface Setting {
  readonly files: Files;
  readonly words: readonly string[];
  readonly inDirectory?: string;
  prepare?(project: Project): Promise<unknown>;
}

async function watch({ files, words, inDirectory = "", prepare }: Setting): Promise<Watched> {
  const project = await createProject(files);
  await prepare?.(project);
  const cache = await createProject();
  const live = startLive({
    args: ["--watch", "run", ...words],
    cwd: project.join(inDirectory),
    env: { NO_COLOR: "1", XDG_CACHE_HOME: cache.path },
  });
  return {
    project,
    async round() {
      const [text] = await live.see(/^[^]*?^rt: "\S+" exited with code \d+; waiting for a change\n/m);
      const lines = text.replaceAll(project.path, "$PROJECT").replace(/saved \d+(?:\.\d+)? m?s/g, "saved");
      return lines.split("\n").filter((line) => !TOTALS.test(line));
    },
    changeWhileStopped(line) {
      live.kill("SIGSTOP");
      const { exitCode } = Bun.spawnSync(["sh", "-c", line], { cwd: project.path });
      live.kill("SIGCONT");
      expect(exitCode).toBe(0);
    },
    waitForOutput: async (pattern) => (await live.see(pattern))[0],
    async [Symbol.asyncDispose]() {
      await live[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
      await cache[Symbol.asyncDispose]();
    },
  };
}

const CAN_TRACE = process.platform === "linux";
const WORKSPACE: Files = {
  "package.json": { name: "root", private: true, workspaces: ["packages/*"] },
  "rtfig.toml": "[run.cache]\nbuild = true\n",
  ".gitignore": "*.log\n",
};
const build = (name: string, line: string, ...needed: readonly string[]) => ({
  name,
  scripts: { build: line },
  dependencies: Object.fromEntries(needed.map((name) => [name, "*"])),
});
const started = (name: string, ...output: readonly string[]) => [
  ...output.map((each) => `${name} build: ${each}`),
  `${name} build: Exited with code 0`,
];
const restored = (name: string, ...output: readonly string[]) => [
  ...output.map((each) => `${name} build: ${each}`),
  `${name} build: Cached (saved)`,
];

test.skipIf(!CAN_TRACE)(
  "a change restarts only the scripts that have read it, and a restored output reaches their dependents",
  async () => {
    const lib = [
      "mkdir -p dist; tr a-z A-Z < source.txt > dist/out; date +%N > dist/other; cp source.txt made.ts",
      "cat ../../schema/x.txt link; if test -e probe/deep; then echo probed; fi; ls listed",
    ].join("; ");
    await using live = await watch({
      files: {
        ...WORKSPACE,
        "schema/x.txt": "x\n",
        "tsconfig.base.json": "{}\n",
        "packages/lib/package.json": build("lib", lib),
        "packages/lib/source.txt": "one\n",
        "packages/lib/made.ts": "one\n",
        "packages/lib/listed/a": "",
        "packages/lib/to/one": "first\n",
        "packages/lib/to/two": "second\n",
        "packages/app/package.json": build(
          "app",
          "cat ../lib/dist/out page.md ../../tsconfig.base.json",
          "lib",
        ),
        "packages/app/page.md": "page\n",
        "packages/app/unused.ts": "",
        "packages/plain/package.json": { scripts: {} },
      },
      words: ["--filter=*", "build"],
      prepare: async (project) => await symlink("to/one", project.join("packages/lib/link")),
    });
    const { project } = live;
    const changed = (name: string) => `rt: ${name} changed`;
    const write = async (name: string, text: string) => await project.write({ [name]: text });
    let output = ["x", "first", "a"];
    const lines = await live.round();
    expect(lines[0]).toStartWith("rt: watching ");
    expect(lines.slice(1)).toEqual([...started("lib", ...output), ...started("app", "ONE", "page", "{}")]);

    // Unread files, files that git ignores, and outputs do not count.
    await write("README.md", "read me");
    await write("packages/lib/a.log", "");
    await write("packages/lib/to/three", "");
    await write("packages/lib/dist/other", "");
    await write("packages/lib/made.ts", "");
    await write("packages/app/unused.ts", "1");
    await live.waitForOutput("rt: packages/app/unused.ts changed; no selected package depends on it\n");
    // A write with equal content does not count either.
    await write("packages/app/page.md", "page\n");

    await write("packages/lib/source.txt", "two\n");
    expect(await live.round()).toEqual([
      changed("packages/lib/source.txt"),
      ...started("lib", ...output),
      ...started("app", "TWO", "page", "{}"),
    ]);
    // The output that app reads has not changed.
    await write("packages/lib/source.txt", "Two\n");
    expect(await live.round()).toEqual([changed("packages/lib/source.txt"), ...started("lib", ...output)]);
    await write("packages/app/page.md", "next\n");
    expect(await live.round()).toEqual([
      changed("packages/app/page.md"),
      ...started("app", "TWO", "next", "{}"),
    ]);

    await write("schema/x.txt", "y\n");
    output = ["y", "first", "a"];
    expect(await live.round()).toEqual([changed("schema/x.txt"), ...started("lib", ...output)]);
    await write("tsconfig.base.json", "[]\n");
    expect(await live.round()).toEqual([
      changed("tsconfig.base.json"),
      ...started("app", "TWO", "next", "[]"),
    ]);

    // A deleted output of another script is restored.
    await rm(project.join("packages/lib/dist/out"));
    expect(await live.round()).toEqual([changed("packages/lib/dist/out"), ...restored("lib", ...output)]);

    // Probed paths, listings and symlinks count.
    await write("packages/lib/probe/other", "");
    expect(await live.round()).toEqual([changed("packages/lib/probe"), ...started("lib", ...output)]);
    await write("packages/lib/probe/deep", "");
    expect(await live.round()).toEqual([
      changed("packages/lib/probe/deep"),
      ...started("lib", "y", "first", "probed", "a"),
    ]);
    await rm(project.join("packages/lib/probe"), { recursive: true });
    expect((await live.round()).slice(1)).toEqual(restored("lib", ...output));
    await write("packages/lib/listed/a", "its content does not matter");
    await write("packages/lib/listed/b", "");
    expect(await live.round()).toEqual([changed("packages/lib/listed/b"), ...started("lib", ...output, "b")]);
    await unlink(project.join("packages/lib/link"));
    await symlink("to/two", project.join("packages/lib/link"));
    expect(await live.round()).toEqual([
      changed("packages/lib/link"),
      ...started("lib", "y", "second", "a", "b"),
    ]);
    await write("packages/lib/to/two", "third\n");
    expect(await live.round()).toEqual([
      changed("packages/lib/to/two"),
      ...started("lib", "y", "third", "a", "b"),
    ]);
  },
);

/** Reads a file, waits until `go` exists, and reads further files. */
const SLOW = "cat first.txt; until test -e go; do sleep 0.05; done; rm go; cat $(cat which.txt); cat last.ts";

test.skipIf(!CAN_TRACE)("a change while a script runs restarts it if the path is a known input", async () => {
  await using live = await watch({
    files: {
      ...WORKSPACE,
      "rtfig.toml": '[run.cache]\nbuild = { ignore = ["go"] }\n',
      "packages/lib/package.json": build("lib", SLOW),
      "packages/lib/first.txt": "1\n",
      "packages/lib/which.txt": "a.txt",
      "packages/lib/a.txt": "a\n",
      "packages/lib/b.txt": "b\n",
      "packages/lib/last.ts": "end\n",
      "packages/lib/unused.ts": "",
    },
    words: ["--filter=*", "build"],
  });
  const write = async (name: string, text: string) =>
    await live.project.write({ [`packages/lib/${name}`]: text });
  const go = async () => {
    await write("go", "");
    return await live.round();
  };
  await live.waitForOutput("lib build: 1\n");
  expect(await go()).toEqual(started("lib", "a", "end"));

  // A change of a known input ends the script, whether it has read the file yet or not.
  await write("first.txt", "2\n");
  await live.waitForOutput("rt: packages/lib/first.txt changed\nlib build: 2\n");
  await write("which.txt", "b.txt");
  await live.waitForOutput(
    "rt: packages/lib/which.txt changed\nlib build: Killed by SIGTERM\nlib build: 2\n",
  );
  // A path that is not a known input is ignored. The script then reads its new content.
  await write("b.txt", "B\n");
  await write("unused.ts", "1");
  expect(await go()).toEqual(started("lib", "B", "end"));
  await write("b.txt", "b\n");
  await live.waitForOutput("rt: packages/lib/b.txt changed\nlib build: 2\n");

  // An input that becomes known at the end of the run and has changed since restarts the script then.
  await write("which.txt", "c.txt");
  await write("c.txt", "c\n");
  await live.waitForOutput("lib build: 2\n");
  expect(await go()).toEqual(started("lib", "c", "end"));
});

test.skipIf(!CAN_TRACE)(
  "a file that changed after a first read restarts the script when it ends",
  async () => {
    const line = "cat $(cat which.txt); echo read; until test -e go; do sleep 0.05; done; rm go";
    await using live = await watch({
      files: {
        ...WORKSPACE,
        "rtfig.toml": '[run.cache]\nbuild = { ignore = ["go"] }\n',
        "packages/lib/package.json": build("lib", line),
        "packages/lib/which.txt": "a.txt",
        "packages/lib/a.txt": "a\n",
        "packages/lib/b.txt": "b\n",
      },
      words: ["--filter=*", "build"],
    });
    const write = async (name: string, text: string) =>
      await live.project.write({ [`packages/lib/${name}`]: text });
    await live.waitForOutput("lib build: read\n");
    await write("go", "");
    expect(await live.round()).toEqual(["lib build: Exited with code 0"]);
    await write("which.txt", "b.txt");
    await live.waitForOutput("lib build: b\nlib build: read\n");
    await write("b.txt", "B\n");
    await write("go", "");
    await live.waitForOutput("rt: packages/lib/b.txt changed\n");
    await live.waitForOutput("lib build: B\nlib build: read\n");
    await write("go", "");
    expect(await live.round()).toEqual(["lib build: Exited with code 0"]);
  },
);

test.skipIf(!CAN_TRACE)(
  "a single cached script restarts after a change of an input outside its package or of rtfig.toml",
  async () => {
    const files = {
      "package.json": { scripts: { build: "cat ../shared/in.txt page.md > out.txt && cat out.txt" } },
      "rtfig.toml": "[run.cache]\nbuild = true\n",
      "page.md": "page\n",
      "unused.ts": "",
    };
    await using live = await watch({
      files: Object.fromEntries([
        ...Object.entries(files).map(([name, text]) => [`app/${name}`, text]),
        ["shared/in.txt", "in\n"],
      ]),
      words: ["build"],
      inDirectory: "app",
    });
    const { project } = live;
    const write = async (name: string, text: string) => await project.write({ [name]: text });
    expect((await live.round()).slice(1)).toEqual(["in", "page"]);
    await write("shared/other.txt", "");
    await write("app/unused.ts", "1");
    await live.waitForOutput("rt: unused.ts changed; no selected package depends on it\n");
    await write("shared/in.txt", "IN\n");
    expect(await live.round()).toEqual(["rt: $PROJECT/shared/in.txt changed", "IN", "page"]);
    await rm(project.join("app/out.txt"));
    await write("shared/in.txt", "in\n");
    expect(await live.round()).toEqual([
      "rt: $PROJECT/shared/in.txt changed",
      "in",
      "page",
      "Cached (saved)",
    ]);
    expect(await Bun.file(project.join("app/out.txt")).text()).toBe("in\npage\n");

    // A failed script keeps the dependencies of its last successful run.
    await rm(project.join("shared"), { recursive: true });
    expect(await live.round()).toContain("cat: ../shared/in.txt: No such file or directory");
    await write("shared/in.txt", "in\n");
    expect((await live.round()).slice(1)).toEqual(["in", "page", "Cached (saved)"]);

    // The folder is replaced, so its watches are invalid.
    live.changeWhileStopped("rm -r shared && mkdir shared && echo new > shared/in.txt");
    expect((await live.round()).slice(1)).toEqual(["new", "page"]);
    await write("shared/in.txt", "in\n");
    expect((await live.round()).slice(1)).toEqual(["in", "page", "Cached (saved)"]);

    // The configuration is read again. An error in it waits for a change.
    await write("app/rtfig.toml", "[run.cache\n");
    expect(await live.round()).toContain("rt: rtfig.toml changed");
    await write("app/rtfig.toml", "[run.cache]\nbuild = false\n");
    const lines = await live.round();
    expect(lines.slice(-2)).toEqual(["in", "page"]);
    await write("app/unused.ts", "2");
    expect(await live.round()).toEqual(["rt: unused.ts changed", "in", "page"]);
  },
);

test("a change of a symlink's target restarts an untraced script, also for a new file in a linked folder", async () => {
  await using live = await watch({
    files: {
      "app/package.json": { scripts: { build: "echo run" } },
      "app/rtfig.toml": "[run.cache]\nbuild = { trace = false, inputs = ['cfg', 'sub/**'], outputs = [] }\n",
      "app/sub/x": "",
      "shared/real": "1",
      "outside/a": "1",
    },
    words: ["build"],
    inDirectory: "app",
    prepare: async (project) => {
      await symlink("../shared/real", project.join("app/cfg"));
      await symlink("../../outside", project.join("app/sub/folder"));
    },
  });
  expect((await live.round()).slice(1)).toEqual(["run"]);
  for (const path of ["shared/real", "outside/a", "outside/b"]) {
    await live.project.write({ [path]: "2" });
    expect(await live.round()).toEqual([expect.stringMatching(/^rt: .* changed$/), "run"]);
  }
});

test("untraced, uncached and uncacheable scripts of one run restart after changes of their own inputs", async () => {
  await using live = await watch({
    files: {
      ...WORKSPACE,
      "rtfig.toml": [
        "[run.cache]",
        '"declared#build" = { trace = false, inputs = ["../../shared/**", "dist/*/*.txt"], outputs = ["out/**"] }',
        '"doubtful#build" = true',
      ].join("\n"),
      "root.json": "",
      "packages/declared/package.json": build("declared", "mkdir -p out; cat a.txt > out/a; cat a.txt"),
      "packages/declared/a.txt": "a\n",
      "packages/declared/b.txt": "",
      "packages/declared/dist/sub/c.txt": "",
      "packages/doubtful/package.json": build("doubtful", "echo >> kept.bin; cat a.txt"),
      "packages/doubtful/a.txt": "a\n",
      "packages/doubtful/kept.bin": "",
      "packages/doubtful/a.ts": "",
      "packages/plain/package.json": build("plain", "echo ran", "declared"),
      "packages/plain/a.ts": "",
    },
    words: ["--filter=*", "build"],
    prepare: async ({ path }) => await Bun.spawn(["git", "init", "-q"], { cwd: path }).exited,
  });
  const { project } = live;
  const write = async (name: string, text: string) => await project.write({ [name]: text });
  const first = await live.round();
  const warning = first.filter((line) => line.startsWith("warning: "));
  const declared = started("declared", "a");
  const plain = started("plain", "ran");
  const doubtful = [...started("doubtful", "a"), ...warning];
  if (CAN_TRACE)
    expect(warning).toEqual([expect.stringContaining("warning: doubtful build was not cached: ")]);
  expect(first.slice(1).toSorted()).toEqual([...declared, ...plain, ...doubtful].toSorted());

  // All files of the package that git does not ignore, and those that the rule names.
  await write("packages/declared/a.log", "");
  await write("packages/declared/out/b", "");
  await write("packages/declared/b.txt", "b");
  // An uncached dependent runs after it.
  expect(await live.round()).toEqual(["rt: packages/declared/b.txt changed", ...declared, ...plain]);
  await write("packages/declared/sub/new.txt", "");
  expect(await live.round()).toEqual(["rt: packages/declared/sub/new.txt changed", ...declared, ...plain]);
  await rm(project.join("packages/declared/sub"), { recursive: true });
  expect(await live.round()).toEqual([
    "rt: packages/declared/sub/new.txt changed",
    ...restored("declared", "a"),
    ...plain,
  ]);

  // Also if an unwatched folder with inputs is deleted and created again.
  await rm(project.join("packages/declared/dist"), { recursive: true });
  expect(await live.round()).toEqual(["rt: packages/declared/dist/sub/c.txt changed", ...declared, ...plain]);
  await write("packages/declared/dist/sub/c.txt", "");
  expect((await live.round()).slice(1)).toEqual([...restored("declared", "a"), ...plain]);
  // Also if the folder is created first: the event of the file implies that of the folder.
  await rm(project.join("packages/declared/dist"), { recursive: true });
  expect((await live.round()).slice(1)).toEqual([...restored("declared", "a"), ...plain]);
  await mkdir(project.join("packages/declared/dist"));
  await write("packages/declared/b.txt", "c");
  expect((await live.round()).slice(1)).toEqual([...declared, ...plain]);
  await write("packages/declared/dist/sub/c.txt", "");
  expect((await live.round()).slice(1)).toEqual([...declared, ...plain]);

  // An uncached script restarts after a change in its package.
  await write("packages/doubtful/a.ts", "1");
  expect(await live.round()).toEqual(["rt: packages/doubtful/a.ts changed", ...doubtful]);
  // Files of the root restart all scripts without known inputs.
  await write("root.json", "1");
  const lines = await live.round();
  expect(lines[0]).toBe("rt: root.json changed");
  expect(lines.slice(1).toSorted()).toEqual([...plain, ...doubtful].toSorted());
  // Concurrent saves are one change.
  await write(".git/index.lock", "");
  await write("packages/declared/a.txt", "A\n");
  await write("packages/declared/b.txt", "B\n");
  await write("packages/plain/a.ts", "1");
  await rename(project.join(".git/index.lock"), project.join(".git/index"));
  expect(await live.round()).toEqual([
    "rt: packages/declared/a.txt and 2 more changed",
    ...started("declared", "A"),
    ...plain,
  ]);
});

test.skipIf(!CAN_TRACE)("files that a failed script leaves behind restart no script", async () => {
  const line = [
    "mkdir -p dist; ls > /dev/null; mktemp ./left.XXXXXX > /dev/null; echo made; cat needed.txt",
    // rt receives this event only after the script has ended.
    "date +%N > dist/out; mktemp ./last.XXXXXX > /dev/null; test -e needed.txt",
  ].join("; ");
  await using live = await watch({
    files: {
      ...WORKSPACE,
      "packages/lib/package.json": build("lib", line),
      "packages/lib/needed.txt": "needed\n",
      "packages/app/package.json": build("app", "cat ../lib/dist/out > /dev/null; cat own.txt", "lib"),
      "packages/app/own.txt": "own\n",
    },
    words: ["--filter=*", "build"],
  });
  const { project } = live;
  const write = async (name: string, text: string) => await project.write({ [name]: text });
  await live.round();
  await rm(project.join("packages/lib/needed.txt"));
  expect((await live.round()).slice(0, 2)).toEqual([
    "rt: packages/lib/needed.txt changed",
    "lib build: made",
  ]);
  await write("packages/app/unrelated.ts", "");
  const idle = "no selected package depends on it\n";
  expect(await live.waitForOutput(new RegExp(`^[^]*?${idle}`))).toBe(
    `rt: packages/app/unrelated.ts changed; ${idle}`,
  );
  await write("packages/lib/needed.txt", "needed again\n");
  expect(await live.round()).toEqual([
    "rt: packages/lib/needed.txt changed",
    ...started("lib", "made", "needed again"),
    ...started("app", "own"),
  ]);
});

test.skipIf(!CAN_TRACE)(
  "a file that a script creates in a folder that it lists does not restart it",
  async () => {
    const line =
      "ls > /dev/null; mktemp ./left.XXXXXX > /dev/null; cat in.txt; until test -e go; do sleep 0.05; done";
    await using live = await watch({
      files: {
        ...WORKSPACE,
        "rtfig.toml": '[run.cache]\nbuild = { ignore = ["go"] }\n',
        "packages/lib/package.json": build("lib", `${line}; rm go`),
        "packages/lib/in.txt": "1\n",
        "packages/app/package.json": build("app", "cat in.txt"),
        "packages/app/in.txt": "1\n",
      },
      words: ["--filter=*", "build"],
    });
    const write = async (name: string, text: string) =>
      await live.project.write({ [`packages/${name}`]: text });
    await live.waitForOutput("lib build: 1\n");
    await write("lib/go", "");
    await live.round();
    for (const text of ["2", "3"]) {
      await write("lib/in.txt", `${text}\n`);
      await live.waitForOutput(`lib build: ${text}\n`);
      // This event implies that the earlier ones were received.
      await write("app/in.txt", `${text}\n`);
      const output = `rt: packages/app/in.txt changed\napp build: ${text}\napp build: Exited with code 0\n`;
      expect(await live.waitForOutput(new RegExp(`^[^]*?app build: Exited.*\n`))).toBe(output);
      await write("lib/go", "");
      expect(await live.round()).toEqual(["lib build: Exited with code 0"]);
    }
  },
);

test.skipIf(!CAN_TRACE)(
  "a change before a waiting script starts is read by it, and does not restart it",
  async () => {
    const wait = "until test -e go; do sleep 0.05; done; rm go";
    await using live = await watch({
      files: {
        ...WORKSPACE,
        ".git/HEAD": "",
        "rtfig.toml": '[run.cache]\nbuild = { ignore = ["go"] }\n',
        "packages/lib/package.json": build("lib", `cat in.txt; ${wait}`),
        "packages/lib/in.txt": "1\n",
        "packages/app/package.json": build("app", `cat in.txt; ${wait}`, "lib"),
        "packages/app/in.txt": "1\n",
        "packages/third/package.json": build("third", "cat in.txt"),
        "packages/third/in.txt": "1\n",
      },
      words: ["--filter=*", "build"],
    });
    const write = async (name: string, text: string) =>
      await live.project.write({ [`packages/${name}`]: text });
    for (const name of ["lib", "app"]) {
      await live.waitForOutput(`${name} build: 1\n`);
      await write(`${name}/go`, "");
    }
    await live.round();
    await write("lib/in.txt", "2\n");
    await live.waitForOutput("lib build: 2\n");
    // While git holds its lock, rt delays the changes.
    await live.project.write({ ".git/index.lock": "" });
    await write("app/in.txt", "2\n");
    await write("third/in.txt", "2\n");
    await write("lib/go", "");
    await live.waitForOutput("app build: 2\n");
    await rename(live.project.join(".git/index.lock"), live.project.join(".git/index"));
    await live.waitForOutput(
      "rt: packages/third/in.txt changed\nthird build: 2\nthird build: Exited with code 0\n",
    );
    await write("app/go", "");
    expect(await live.round()).toEqual(["app build: Exited with code 0"]);
  },
);
