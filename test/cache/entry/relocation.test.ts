// A cache entry applies to other checkouts of the project: git worktrees and copies. It does not apply if the script depends
// on the path of its checkout, or on files above it that differ.
import { expect, test } from "bun:test";
import { chmod, cp, mkdir, rm, writeFile } from "node:fs/promises";
import { createProject, type Project } from "../../support/project.ts";
import { cleanEnvironment, type Environment, runRt } from "../../support/rt.ts";
import { CAN_TRACE, cachedProject, outcomeOf } from "../cached-project.ts";

/** Checkouts of one project below one directory, with a shared cache. */
interface Checkouts extends Project {
  /** Creates a checkout without outputs. */
  check(name: string): Promise<void>;
  /** Returns "hit", "ran" or the output of a failed run. */
  run(directory: string, words?: readonly string[], env?: Environment): Promise<string>;
  read(path: string): Promise<string>;
}

async function checkouts(build: string, rule: string, more: Record<string, string> = {}): Promise<Checkouts> {
  const files = {
    "package.json": JSON.stringify({ name: "root", workspaces: ["app"] }),
    "rtfig.toml": `[run.cache]\nbuild = ${rule}\n`,
    "app/package.json": JSON.stringify({ name: "app", scripts: { build } }),
    "app/source": "text\n",
    ...more,
  };
  const project = await createProject({ "cache/.keep": "", "original/.keep": "" });
  const checkout = async (name: string) => {
    for (const [path, text] of Object.entries(files)) await project.write({ [`${name}/${path}`]: text });
  };
  const run: Checkouts["run"] = async (directory, words = ["--filter", "app", "run", "build"], env) => {
    const result = await runRt({
      args: words,
      cwd: project.join(directory),
      env: { XDG_CACHE_HOME: project.join("cache"), HOME: project.join("home"), ...env },
    });
    const all = result.stdout + result.stderr;
    if (result.status !== 0 || all.includes("warn")) return all;
    return all.includes("Cached (saved ") ? "hit" : "ran";
  };
  return {
    ...project,
    check: checkout,
    run,
    read: async (path) => await Bun.file(project.join(path)).text(),
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

test.skipIf(!CAN_TRACE)(
  "a worktree gets the hits of the first checkout, whether it is beside it or at another depth",
  async () => {
    const script = "mkdir -p dist && tr a-z A-Z < source > dist/out && cat dist/out";
    await using all = await checkouts(script, "true");
    for (const name of ["one", "two", "deep/er/three"]) await all.check(name);
    expect(await all.run("one")).toBe("ran");
    expect(await all.run("one")).toBe("hit");
    for (const name of ["two", "deep/er/three"]) {
      expect([name, await all.run(name)]).toEqual([name, "hit"]);
      expect(await all.read(`${name}/app/dist/out`)).toBe("TEXT\n");
    }
    // The rules of the workspace root also apply in a member's folder.
    expect(await all.run("two/app", ["run", "build"])).toBe("hit");
    expect(await all.run("two/app", ["--filter", "app", "run", "build"])).toBe("hit");
    await all.write({ "two/app/source": "other\n" });
    expect(await all.run("two")).toBe("ran");
    expect(await all.read("two/app/dist/out")).toBe("OTHER\n");
    expect(await all.run("one")).toBe("hit");
    await all.write({ "one/app/source": "other\n" });
    expect(await all.run("one")).toBe("hit");
    expect(await all.read("one/app/dist/out")).toBe("OTHER\n");
  },
);

/** Scripts that store their path. */
const PATH_STORERS: Readonly<Record<string, string>> = {
  path: "pwd > path.out",
  base64: 'printf %s "x $PWD" | base64 -w 0 > base64.out; base64 -w 0 base64.out',
  url: "node -p 'require(\"url\").pathToFileURL(process.cwd()).href' > url.out",
  name: "touch out$(pwd | tr / -)",
  link: "ln -s $PWD/source link",
  variable: "echo $npm_package_json > variable.out",
  printed: "pwd | tr / -",
};

test.skipIf(!CAN_TRACE)(
  "scripts that store the path of their checkout in any form run in each checkout",
  async () => {
    const rules = Object.keys(PATH_STORERS).map((name) => `${name} = true\n`);
    await using all = await checkouts("true", "true", {
      "rtfig.toml": `[run.cache]\n${rules.join("")}`,
      "app/package.json": JSON.stringify({ name: "app", scripts: PATH_STORERS }),
    });
    for (const name of ["one", "two", "deep/er/one"]) {
      await all.check(name);
      expect([name, await all.run(`${name}/app`, ["run", ...Object.keys(PATH_STORERS)])]).toEqual([
        name,
        "ran",
      ]);
    }
  },
);

test.skipIf(!CAN_TRACE)(
  "an entry applies to another checkout when words of the path occur without the path",
  async () => {
    await using all = await checkouts("echo tmp one app/one /one > out", "true");
    for (const name of ["one", "two"]) await all.check(name);
    expect([await all.run("one"), await all.run("two")]).toEqual(["ran", "hit"]);
  },
);

test.skipIf(!CAN_TRACE)(
  "an entry depends on the files above a checkout, and on those that do not exist there",
  async () => {
    const script = "cat ../../beside && node -p 'try { require(\"dep\") } catch { 0 }'";
    await using all = await checkouts(script, "true");
    for (const name of ["one", "two", "deep/er/one"]) await all.check(name);
    await all.write({ beside: "1" });
    expect(await all.run("one")).toBe("ran");
    expect(await all.run("two")).toBe("hit");
    // This checkout has no such file, so the script fails.
    expect(await all.run("deep/er/one")).toContain("beside");
    await all.write({ "deep/er/beside": "2" });
    expect(await all.run("deep/er/one")).toBe("ran");
    await all.write({ "deep/er/beside": "1" });
    expect(await all.run("deep/er/one")).toBe("hit");
    // Node searches for packages in all parent directories.
    await all.write({ "deep/node_modules/dep/index.js": "module.exports = 1" });
    expect(await all.run("deep/er/one")).toBe("ran");
    await rm(all.join("deep/node_modules"), { recursive: true });
    expect(await all.run("deep/er/one")).toBe("hit");
  },
);

test.skipIf(!CAN_TRACE)(
  "an entry depends on the absence of a file in every folder up to the home directory",
  async () => {
    const script = "cd ..; until test -e .conf; do cd ..; done; cat .conf";
    await using all = await checkouts(script, "true");
    for (const name of ["work/one", "work/deep/er/one"]) await all.check(name);
    const run = async (name: string) => await all.run(name, undefined, { HOME: all.path });
    await all.write({ ".conf": "of the user" });
    expect(await run("work/one")).toBe("ran");
    expect(await run("work/deep/er/one")).toBe("hit");
    await all.write({ "work/deep/.conf": "nearer" });
    expect(await run("work/deep/er/one")).toBe("ran");
    expect(await run("work/one")).toBe("hit");
  },
);

test.skipIf(!CAN_TRACE)(
  "an entry applies to one checkout only under shared = false, and the rules of a member's rtfig.toml are ignored",
  async () => {
    await using all = await checkouts("cat source", "{ shared = false }");
    for (const name of ["one", "two"]) await all.check(name);
    for (const name of ["one", "two"])
      expect([await all.run(name), await all.run(name)]).toEqual(["ran", "hit"]);
    await all.write({ "one/app/rtfig.toml": "[run.cache]\nbuild = false\n" });
    expect(await all.run("one/app", ["run", "build"])).toContain(
      `warning: [run.cache] of ${all.join("one/app/rtfig.toml")} is ignored: the root project's is`,
    );
    expect(await all.run("one")).toBe("hit");
    await mkdir(all.join("one/node_modules"));
    await cp(all.join("one/app"), all.join("one/node_modules/app"), { recursive: true });
    await writeFile(all.join("one/node_modules/app/rtfig.toml"), "[run.cache]\nbuild = true\n");
    for (const _ of [1, 2]) expect(await all.run("one/node_modules/app", ["run", "build"])).toBe("ran");
  },
);

test.skipIf(!CAN_TRACE).each([
  ["lists the root without looking at .git", "ls > /dev/null; node -p 'fs.readdirSync(\".\").length'", "hit"],
  ["prints .git as a folder of the root", "find . -maxdepth 1 -type d", "ran"],
  ["looks at .git itself", "test -d .git && echo a folder; true", "ran"],
])(
  "a script in a git worktree that %s is a hit only if it did not depend on the kind of .git",
  async (_, build, expected) => {
    await using project = await cachedProject({ build }, { source: "hello\n" });
    await using other = await createProject();
    const git = (...words: string[]) => {
      const env = cleanEnvironment({
        ...{ GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@example.com", GIT_CONFIG_GLOBAL: "/dev/null" },
        ...{ GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@example.com" },
      });
      expect(Bun.spawnSync(["git", ...words], { cwd: project.path, env }).exitCode).toBe(0);
    };
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "one");
    git("worktree", "add", "-q", other.join("tree"));
    const inTree = async () =>
      outcomeOf(
        await runRt({
          args: ["run", "build"],
          cwd: other.join("tree"),
          env: { XDG_CACHE_HOME: project.cache },
        }),
        "",
      );
    // The root's permissions are part of the entry.
    await chmod(project.path, 0o755);
    await chmod(other.join("tree"), 0o755);
    expect([await project.run("build"), await inTree(), await inTree()]).toEqual(["ran", expected, "hit"]);
  },
);
