// No stale hits: a script runs again after any change of what its processes have read, probed or listed. Other changes do not
// make it run again.
import { expect, test } from "bun:test";
import { chmod, copyFile, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { waitUntil } from "../../support/processes.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

/** A path that is longer than the recorder reads at once. */
const LONG = Array.from({ length: 4 }, () => "long".repeat(25)).join("/");

const SCRIPT = [
  "#!/bin/bash",
  "bash -c 'bash -c \"cat ../outside/data.txt\"'", // read by a grandchild
  "test -e absent/config && echo configured",
  "test -e switch && echo switched",
  "ls listed | tr '\\n' ' '",
  "cat link/file",
  "cat linked",
  `cat ${LONG}/file`,
  "./tool",
  "echo $DECLARED $UNDECLARED",
  "./started",
  "stat -c %a probed > /dev/null",
  "mkdir -p dist && cat source > dist/out",
].join("\n");

const FILES = {
  "app/package.json": { name: "app", scripts: { build: "./build.sh" } },
  "app/build.sh": SCRIPT,
  "app/tool": "#!/usr/bin/env sh\n. ./tool.conf\necho tool\n",
  "app/tool.conf": "",
  "app/source": "one",
  "app/probed": "",
  [`app/${LONG}/file`]: "long\n",
  "app/behind": "behind\n",
  "app/listed/a": "",
  "app/listed/sub/b": "",
  "app/one/file": "one\n",
  "app/two/file": "two\n",
  "app/unrelated": "",
  "outside/data.txt": "data\n",
};

async function settle(project: CachedProject, env: Record<string, string>): Promise<void> {
  expect(await go(project, env)).toContain("no earlier run");
  expect(await go(project, env)).toBe("hit");
}

/** Returns "hit", or the cache miss reason. */
async function go(project: CachedProject, env: Record<string, string>): Promise<string> {
  const { stderr, status } = await project.rt(["--filter", "app", "run", "build"], env);
  expect({ stderr, status }).toEqual({ stderr: expect.not.stringContaining("warn"), status: 0 });
  const { stdout } = await project.rt(["cache", "why", "build"]);
  return stdout.includes(" inputs are unchanged since ") ? "hit" : stdout;
}

/** Makes a change and returns the function that undoes it. */
type Change = (path: (name: string) => string) => Promise<() => Promise<unknown>>;

const edit =
  (name: string, text: string): Change =>
  async (path) => {
    const before = await Bun.file(path(name)).text();
    await writeFile(path(name), text);
    return async () => await writeFile(path(name), before);
  };
const add =
  (name: string): Change =>
  async (path) => {
    await Bun.write(path(name), "new");
    return async () =>
      await rm(path(name === "app/absent/config" ? "app/absent" : name), { recursive: true });
  };

const CHANGES: readonly (readonly [what: string, why: string, change: Change])[] = [
  ["a file read by a grandchild", "outside/data.txt changed", edit("outside/data.txt", "DATA\n")],
  ["a probed file that is there now", "app/absent now exists", add("app/absent/config")],
  ["a probed name that is there now", "app/switch now exists", add("app/switch")],
  ["a name in a listed directory", "app/listed/new was added", add("app/listed/new")],
  [
    "a listed name that was deleted",
    "app/listed/a was removed",
    async (path) => {
      await unlink(path("app/listed/a"));
      return async () => await writeFile(path("app/listed/a"), "");
    },
  ],
  [
    "a listed file that is a directory now",
    "app/listed/",
    async (path) => {
      await unlink(path("app/listed/a"));
      await Bun.write(path("app/listed/a/x"), "");
      return async () => {
        await rm(path("app/listed/a"), { recursive: true });
        await writeFile(path("app/listed/a"), "");
      };
    },
  ],
  [
    "a link with another target",
    "app/link changed (symlink target)",
    async (path) => {
      await unlink(path("app/link"));
      await symlink("two", path("app/link"));
      return async () => {
        await unlink(path("app/link"));
        await symlink("one", path("app/link"));
      };
    },
  ],
  ["a file behind a link", "app/one/file changed", edit("app/one/file", "ONE\n")],
  ["the target of a link", "app/behind changed", edit("app/behind", "BEHIND\n")],
  ["a file with a long path", `app/${LONG}/file changed`, edit(`app/${LONG}/file`, "LONG\n")],
  ["a program", "app/tool changed", edit("app/tool", "#!/usr/bin/env sh\n. ./tool.conf\necho TOOL\n")],
  ["a file that a program reads", "app/tool.conf changed", edit("app/tool.conf", "true\n")],
  [
    "the interpreter of a shebang, which only the kernel opens",
    "app/interpreter changed",
    async (path) => {
      const before = await Bun.file(path("app/interpreter")).bytes();
      await writeFile(path("app/interpreter"), Buffer.concat([before, Buffer.from("\n")]));
      return async () => await writeFile(path("app/interpreter"), before);
    },
  ],
  ["the script itself", "app/build.sh changed", edit("app/build.sh", `${SCRIPT}\ntrue`)],
  [
    "permissions",
    "app/probed changed (permissions 600, not 644)",
    async (path) => {
      await chmod(path("app/probed"), 0o600);
      return async () => await chmod(path("app/probed"), 0o644);
    },
  ],
  [
    "a new program earlier in PATH",
    "app/node_modules now exists",
    async (path) => {
      await Bun.write(path("app/node_modules/.bin/tr"), "#!/bin/sh\n");
      return async () => await rm(path("app/node_modules"), { recursive: true });
    },
  ],
  [
    "a file that was replaced by one of the same size",
    "app/source changed",
    async (path) => {
      await writeFile(path("app/next"), "two");
      await rename(path("app/source"), path("app/before"));
      await rename(path("app/next"), path("app/source"));
      return async () => {
        await rm(path("app/source"));
        await rename(path("app/before"), path("app/source"));
      };
    },
  ],
];

test.skipIf(!CAN_TRACE)(
  "a script runs again after a change of anything that it has read, probed or listed, and only then",
  async () => {
    await using project = await cachedProject({}, FILES, 'build = { env = ["DECLARED"] }');
    await project.write({ "package.json": { name: "root", workspaces: ["app"] } });
    await chmod(project.join("app/build.sh"), 0o755);
    await chmod(project.join("app/tool"), 0o755);
    await symlink("one", project.join("app/link"));
    await symlink("behind", project.join("app/linked"));
    await copyFile("/bin/sh", project.join("app/interpreter"));
    await Bun.write(project.join("app/started"), "#!./interpreter\necho started\n");
    for (const name of ["interpreter", "started"]) await chmod(project.join("app", name), 0o755);
    const env = { DECLARED: "1" };
    await settle(project, env);
    for (const [what, why, change] of CHANGES) {
      const undo = await change(project.join);
      expect([what, await go(project, env)]).toEqual([what, expect.stringContaining(why)]);
      await undo();
      expect([what, await go(project, env)]).toEqual([what, "hit"]);
    }
    expect(await go(project, { DECLARED: "2" })).toContain("the variable DECLARED changed");
    expect(await go(project, { DECLARED: "1", UNDECLARED: "1" })).toBe("hit");
    await project.write({ "app/unrelated": "changed", "other/file": "new", "app/one/other": "new" });
    expect(await go(project, env)).toBe("hit");
    // Only the kernel opens the dynamic loader, for an interpreter.
    const { stdout } = await project.rt(["cache"]);
    const [, store] = / in (\/.*)\n/.exec(stdout) ?? [];
    const [name] = new Bun.Glob("keys/*/*.zst").scanSync(store);
    const entry = Bun.zstdDecompressSync(await Bun.file(`${store}/${name}`).bytes()).toString();
    expect(entry).toMatch(/\["file","[^"]*\/ld-[^"]*\.so/);
  },
);

test.skipIf(!CAN_TRACE)(
  "a script depends on each target that a symlink had while the script ran",
  async () => {
    const turned = "ln -sfn one link; cat link/file; ln -sfn two link; cat link/file";
    const own = "(cd three; cat /proc/self/cwd/file); (cd four; cat /proc/self/cwd/file)";
    const files = Object.fromEntries(["one", "two", "three", "four"].map((name) => [`${name}/file`, name]));
    await using project = await cachedProject({ t: `${turned}; ${own}` }, files);
    expect(await project.run("t")).toBe("ran");
    expect(await project.run("t")).toBe("hit");
    for (const name of Object.keys(files)) {
      await project.write({ [name]: "changed" });
      expect([name, await project.run("t")]).toEqual([name, "ran"]);
      expect([name, await project.run("t")]).toEqual([name, "hit"]);
    }
  },
);

test.skipIf(!CAN_TRACE)(
  "a run is not cached when another process changes an input while it runs",
  async () => {
    const wait = "cat data; echo > ready; until test -e go; do sleep 0.05; done";
    await using project = await cachedProject({ t: wait }, { data: "1" }, 't = { ignore = ["go", "ready"] }');
    const running = project.run("t");
    await waitUntil(async () => await Bun.file(project.join("ready")).exists());
    await project.write({ data: "2", go: "" });
    expect(await running).toMatch(
      /^t was not cached: another process changed \$PROJECT\/data during the run/,
    );
  },
);

const FORMAT =
  `const fs = require("fs"); for (const name of fs.readdirSync("src")) { const path = "src/" + name; ` +
  `const text = fs.readFileSync(path, "utf8"); if (text !== text.toUpperCase()) fs.writeFileSync(path, text.toUpperCase()); }`;

for (const isTraced of [true, false])
  test.skipIf(isTraced && !CAN_TRACE)(
    `a hit never replaces a source that outputs names, ${isTraced ? "traced" : "untraced"}`,
    async () => {
      await using project = await cachedProject(
        { format: "node format.cjs", all: "cat in" },
        {
          "format.cjs": FORMAT,
          "src/a": "one",
          "src/b": "TWO",
          in: "1\n",
          unread: "1",
          made: "",
          ".gitignore": "made\n",
        },
        `format = { outputs = ["src/**"], trace = ${isTraced} }\nall = { outputs = ["**"], trace = ${isTraced} }`,
      );
      const git = (...words: string[]) => Bun.spawnSync(["git", ...words], { cwd: project.path });
      git("init", "-q");
      git("add", "-A");
      const text = async (name: string) => await Bun.file(project.join(name)).text();
      const reason = isTraced
        ? "format was not cached: it modified its own input $PROJECT/src/a; git does not ignore it, and a run that leaves " +
          "it unchanged is cached; if the old content is irrelevant, set its rule in [run.cache] to: " +
          'format = { outputs = ["src/**"], ignore = ["src/a"] }'
        : "format was not cached: src/a changed during the run; run it again";
      expect([await project.run("format"), await text("src/a")]).toEqual([reason, "ONE"]);
      expect([await project.run("format"), await project.run("format")]).toEqual(["ran", "hit"]);
      await project.write({ "src/a": "edited" });
      expect([await project.run("format"), await text("src/a")]).toEqual([reason, "EDITED"]);
      expect([await project.run("all"), await project.run("all")]).toEqual(["ran", "hit"]);
      for (const name of ["in", "unread"]) {
        await project.write({ [name]: "2\n" });
        expect([name, await project.run("all"), await text(name)]).toEqual([name, "ran", "2\n"]);
      }
      await project.write({ made: "2" });
      expect([await project.run("all"), await text("made")]).toEqual(["hit", ""]);
    },
  );
