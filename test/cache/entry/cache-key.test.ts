// The cache key covers the arguments, variables, umask and rule of a script.
import { expect, test } from "bun:test";
import { linkSync } from "node:fs";
import { statPath } from "../../../platform/files/path-state.ts";
import { hashFile, FileHashCache } from "../../../src/cache/store/file-hash-cache.ts";
import { hashOf } from "../../../src/cache/key/cache-key.ts";
import { createProject } from "../../support/project.ts";
import { RT, runRt } from "../../support/rt.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

test.skipIf(!CAN_TRACE)("the cache key includes arguments and umask, but not SHLVL", async () => {
  const config = 't = { env = ["SHLVL"] }';
  await using project = await cachedProject({ t: "cat in; echo" }, { in: "text\n" }, config);
  const run = async (args: string[], umask: string, env = {}) => {
    const { stdout, stderr, status } = await runRt({
      program: ["bash", "-c", `umask ${umask}; exec "$0" "$@"`, RT],
      args: ["run", "t", ...args],
      cwd: project.path,
      env: { XDG_CACHE_HOME: project.cache, ...env },
    });
    expect(status).toBe(0);
    return [stdout, stderr.includes("Cached (saved")];
  };
  expect(await run(["a"], "022")).toEqual(["text\na\n", false]);
  expect(await run(["b"], "022")).toEqual(["text\nb\n", false]);
  expect(await run(["a"], "077")).toEqual(["text\na\n", false]);
  expect(await run(["a"], "022", { SHLVL: "7" })).toEqual(["text\na\n", true]);
  expect(await run(["b"], "022")).toEqual(["text\nb\n", true]);
});

test.skipIf(!CAN_TRACE)(
  "a script gets the variables of --env-file, and the environment overrides them",
  async () => {
    const files = { e: "A=1\nB=2\n" };
    await using project = await cachedProject({ t: "echo $A $B $C" }, files, "t = { outputs = [] }");
    const run = async (options: string[], env = {}) => {
      const { stdout, stderr } = await project.rt([...options, "run", "t"], env);
      return [stdout, stderr.includes("Cached (saved")];
    };
    expect(await run(["--env-file=e"])).toEqual(["1 2\n", false]);
    expect(await run(["--env-file=e"], { A: "1", C: "3" })).toEqual(["1 2\n", true]);
    expect(await run(["--env-file=e"], { A: "4", B: "2" })).toEqual(["4 2\n", false]);
    expect(await run([], { A: "1", B: "2" })).toEqual(["\n", false]);
  },
);

test.skipIf(!CAN_TRACE)(
  "the cache key includes the rule, and a ! pattern of ignore re-includes a path",
  async () => {
    await using project = await cachedProject(
      { t: "cat gen/a gen/kept" },
      { "gen/a": "1", "gen/kept": "1" },
      't = { ignore = ["gen/**", "!gen/kept"] }',
    );
    expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
    await project.write({ "gen/a": "2" });
    expect(await project.run("t")).toBe("hit");
    await project.write({ "gen/kept": "2" });
    expect(await project.run("t")).toBe("ran");
    await project.write({ "rtfig.toml": "[run.cache]\nt = true\n" });
    expect(await project.run("t")).toBe("ran");
  },
);

test.skipIf(!CAN_TRACE)("a run that writes more than 64 MB to the terminal is not cached", async () => {
  await using project = await cachedProject({ t: "head -c 68000000 /dev/zero" });
  const { stderr } = await runRt({
    program: ["bash", "-c", `"$0" run t > /dev/null`, RT],
    cwd: project.path,
    env: { XDG_CACHE_HOME: project.cache },
  });
  expect(stderr).toContain(
    "warning: t was not cached: its output exceeds 64 MB; print less, or write to a file\n",
  );
  expect((await project.rt(["cache"])).stdout).toStartWith("0 entries (");
});

test.skipIf(!CAN_TRACE)(
  "an unknown subcommand of rt cache changes nothing and gets a suggestion",
  async () => {
    await using project = await cachedProject({ t: "cat in" }, { in: "1" });
    expect(await project.run("t")).toBe("ran");
    expect(await project.rt(["cache", "cleer"])).toEqual({
      stdout: "",
      stderr: "error: Unknown command: rt cache cleer\nhint: did you mean rt cache clear?\n",
      status: 1,
    });
    expect(await project.run("t")).toBe("hit");
  },
);

test("a program keeps its hash when a hard link to it is created during hashing", async () => {
  await using project = await createProject({ program: "x".repeat(8 << 20) });
  const path = project.join("program");
  const hashes = new FileHashCache(
    statPath,
    () => true,
    () => null,
  );
  // The file is hashed in chunks, and other callbacks run between them.
  const hash = hashOf(path, hashes, statPath);
  await new Promise((next) => setImmediate(next));
  linkSync(path, project.join("link"));
  expect(await hash).toBe(await hashFile(path));
});

test.skipIf(!CAN_TRACE)(
  "an ignore pattern that matches folders above or beside a package does not exclude the package itself",
  async () => {
    for (const ignore of ['"$ABOVE/*"', '"$ABOVE/**"', '"../*"', '"/**"', '"/*"', '"../../*"']) {
      await using above = await createProject({
        "shop/package.json": { name: "shop", workspaces: ["packages/*"] },
        "shop/packages/web/package.json": {
          name: "web",
          scripts: { t: "ls ../../.. .. > /dev/null; cat page ../../all" },
        },
        "shop/packages/web/page": "1",
        "shop/all": "1",
      });
      await above.write({
        "shop/rtfig.toml": `[run.cache]\nt = { ignore = [${ignore.replace("$ABOVE", above.path)}] }\n`,
      });
      const XDG_CACHE_HOME = above.join("cache");
      const run = async () => {
        const cwd = above.join("shop/packages/web");
        const { stderr } = await runRt({ args: ["run", "t"], cwd, env: { XDG_CACHE_HOME } });
        return stderr.includes("Cached (saved ") ? "hit" : stderr.includes("not cached") ? stderr : "ran";
      };
      expect([ignore, await run(), await run()]).toEqual([ignore, "ran", "hit"]);
      const isBeside = ignore.startsWith('"../');
      await above.write(isBeside ? { "shop/packages/other": "" } : { beside: "" });
      expect([ignore, await run()]).toEqual([ignore, "hit"]);
      await above.write({ "shop/packages/web/page": "2" });
      expect([ignore, await run()]).toEqual([ignore, "ran"]);
      // "../../*" matches the file in the workspace root; the other patterns do not.
      await above.write({ "shop/all": "2" });
      expect([ignore, await run()]).toEqual([ignore, ignore === '"../../*"' ? "hit" : "ran"]);
    }
  },
);

test.skipIf(!CAN_TRACE)(
  "a script has the same result as a part of another package's script, whose package.json does not count",
  async () => {
    await using project = await cachedProject(
      {},
      {
        "package.json": {
          ...{ name: "root", version: "1.0.0", engines: { node: ">=1" }, workspaces: ["a"] },
          scripts: { outer: "rt run --filter a t" },
        },
        "a/package.json": {
          name: "a",
          scripts: { t: "printenv npm_package_version npm_package_engines_node || echo none" },
        },
      },
      '"a#t" = true',
    );
    expect((await project.rt(["run", "outer"])).stdout).toContain("none\n");
    expect((await project.rt(["run", "--filter", "a", "t"])).stdout).toContain("Cached (saved ");
  },
);
