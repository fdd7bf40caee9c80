// A cache hit has every effect of the recorded run: outputs, deletions and output log.
import { expect, test } from "bun:test";
import {
  chmod,
  lstat,
  mkdir,
  readFile,
  readdir,
  readlink,
  rm,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import { RT, runRt } from "../../support/rt.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

const BUILD = [
  "const fs = require('fs');",
  "fs.mkdirSync('dist/empty', { recursive: true });",
  "fs.writeFileSync('dist/bytes', new Uint8Array(70000).map((_, index) => index));",
  "fs.writeFileSync('dist/tool', '#!/bin/sh\\n', { mode: 0o755 });",
  "fs.writeFileSync('dist/\\u00fc \\n name', 'odd');",
  "try { fs.symlinkSync('tool', 'dist/link'); } catch {}",
  "fs.rmSync('old', { force: true });",
  "fs.writeFileSync('temporary', ''); fs.rmSync('temporary');",
  "fs.appendFileSync('../runs', 'x');",
].join("\n");

/** Describes every path below a directory: kind, mode and content. */
async function snapshot(directory: string): Promise<{ name: string }[]> {
  const names = (await readdir(directory, { recursive: true })).sort();
  return await Promise.all(
    names.map(async (name) => {
      const path = `${directory}/${name}`;
      const { mode, size } = await lstat(path);
      const kind = mode & 0o170000;
      if (kind === 0o120000) return { name, target: await readlink(path) };
      return { name, mode, ...(kind === 0o100000 && { size, hash: Bun.hash(await readFile(path)) }) };
    }),
  );
}

test.skipIf(!CAN_TRACE)("a hit restores all outputs, whichever of them were changed or deleted", async () => {
  await using project = await cachedProject(
    {},
    {
      "package.json": { name: "root", workspaces: ["app"] },
      "app/package.json": { name: "app", scripts: { build: "node build.cjs" } },
      "app/build.cjs": BUILD,
      "app/old": "to be removed",
    },
    'build = { ignore = ["../runs"] }',
  );
  const build = async () => await project.rt(["--filter", "app", "run", "build"]);
  const first = await build();
  expect(first).toMatchObject({ status: 0, stderr: "" });
  const fresh = await snapshot(project.join("app"));
  expect(fresh.map(({ name }) => name)).toEqual([
    "build.cjs",
    "dist",
    "dist/bytes",
    "dist/empty",
    "dist/link",
    "dist/tool",
    "dist/\u00fc \n name",
    "package.json",
  ]);
  for (const spoil of [
    async () => {},
    async () => await rm(project.join("app/dist"), { recursive: true }),
    async () => await writeFile(project.join("app/dist/bytes"), "other"),
    async () => await chmod(project.join("app/dist/tool"), 0o644),
    async () => await rm(project.join("app/dist/empty"), { recursive: true }),
    async () => await unlink(project.join("app/dist/link")),
    async () => await writeFile(project.join("app/old"), "to be removed"),
  ]) {
    await spoil();
    const { stdout, stderr, status } = await build();
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toMatch(/^app build: Cached \(saved .*\)\n$/);
    expect(await snapshot(project.join("app"))).toEqual(fresh);
  }
  expect(await Bun.file(project.join("runs")).text()).toBe("x");
});

test.skipIf(!CAN_TRACE)(
  "a hit replays both streams of all hooks, with colours, and without $ lines under --silent",
  async () => {
    const write = (text: string) => `node -e 'process.stdout.write("${text}"); process.stderr.write("[e]")'`;
    await using project = await cachedProject(
      {
        prebuild: "echo before",
        build: `${write("\\u001b[31mred\\u001b[0m")} && ${write("no newline")}`,
        postbuild: "echo after >&2",
      },
      {},
      "build = true",
    );
    const first = await project.rt(["run", "build"]);
    const second = await project.rt(["run", "build"]);
    expect(first.stdout).toBe("before\n\u001b[31mred\u001b[0mno newline");
    expect(second.stdout).toBe(first.stdout);
    const saved = /Cached \(saved \S+ \w+\)\n/;
    expect(second.stderr).toMatch(saved);
    expect(second.stderr.replace(saved, "")).toBe(first.stderr);
    expect(first.stderr).toMatch(/^\$ echo before\n\$ node .*\[e\]\[e\]\$ echo after >&2\nafter\n$/s);
    const silent = await project.rt(["--silent", "run", "build"]);
    expect(silent.stderr).toBe("[e][e]after\n");
  },
);

test.skipIf(!CAN_TRACE)(
  "a hit restores nothing outside the project and uses no damaged blob or entry",
  async () => {
    await using project = await cachedProject(
      { build: "mkdir -p dist; cp source dist/out" },
      { source: "1" },
    );
    await using other = await cachedProject({});
    expect(await project.run("build")).toBe("ran");
    await rm(project.join("dist"), { recursive: true });
    await symlink(other.path, project.join("dist"));
    const before = await readdir(other.path);
    expect(await project.run("build")).not.toBe("hit");
    // The script itself copies through the link. rt leaves neither the output nor a temporary file there.
    expect((await readdir(other.path)).toSorted()).toEqual([...before, "out"].toSorted());
    await rm(project.join("dist"));
    await rm(`${other.path}/out`, { force: true });
    // A run with damaged blobs is a miss, and repairs them.
    expect(await project.run("build")).toBe("hit");
    await rm(project.join("dist"), { recursive: true });
    const { stdout: status } = await project.rt(["cache", "status"]);
    const [, store] = / in (\/.*)\n/.exec(status) ?? [];
    for (const name of new Bun.Glob("blobs/*/*").scanSync(store))
      await writeFile(`${store}/${name}`, "damaged");
    expect(await project.run("build")).toBe("ran");
    expect(await Bun.file(project.join("dist/out")).text()).toBe("1");
    await rm(project.join("dist"), { recursive: true });
    expect(await project.run("build")).toBe("hit");
    for (const name of new Bun.Glob("keys/*/*").scanSync(store))
      await writeFile(`${store}/${name}`, "damaged");
    expect(await project.run("build")).toBe("ran");
    expect((await project.rt(["cache", "clear"])).stdout).toBe("The cache is empty\n");
    expect((await project.rt(["cache"])).stdout).toStartWith("The cache is empty (");
  },
);

test.skipIf(!CAN_TRACE)("concurrent rt processes share one cache", async () => {
  const packages = ["a", "b", "c", "d"];
  const files = Object.fromEntries(
    packages.flatMap((name) => [
      [`${name}/package.json`, { name, scripts: { build: "cat ../shared in > out" } }],
      [`${name}/in`, name],
    ]),
  );
  await using project = await cachedProject({}, { shared: "s", ...files }, "build = true");
  await project.write({ "package.json": { name: "root", workspaces: packages } });
  const all = async (report: string) => {
    const { status } = await project.rt(["--filter", "*", `--report=${report}`, "run", "build"]);
    const text = await Bun.file(project.join(report)).text();
    return [
      status,
      [...text.matchAll(/"message": "(?:Done|Cached)/g)].length,
      [...text.matchAll(/"saved"/g)].length,
    ];
  };
  for (const [status, done] of await Promise.all(["1", "2", "3"].map(all)))
    expect([status, done]).toEqual([0, 4]);
  // rt does not cache concurrent runs of one script, so a single process fills the cache.
  expect((await all("4")).slice(0, 2)).toEqual([0, 4]);
  for (const name of packages) await rm(project.join(name, "out"));
  expect(await all("5")).toEqual([0, 4, 4]);
  for (const name of packages) expect(await Bun.file(project.join(name, "out")).text()).toBe(`s${name}`);
  await all("6.trace.json");
  const trace = await Bun.file(project.join("6.trace.json")).text();
  expect(trace.match(/"cat":"cached"/g)).toHaveLength(4);
});

test.skipIf(!CAN_TRACE)(
  "a failing hook of a cached script keeps its output in order and is reported with its exit code",
  async () => {
    await using project = await cachedProject({
      prebuild: "echo said >&2; exit 3",
      build: "echo not reached",
    });
    const { stdout, stderr, status } = await project.rt(["run", "build"]);
    expect({ stdout, status }).toEqual({ stdout: "", status: 3 });
    expect(stderr).toStartWith(
      '$ echo said >&2; exit 3\nsaid\nerror: script "prebuild" exited with code 3\n',
    );
  },
);

test.skipIf(!CAN_TRACE)(
  "parallel scripts are all cached when there are more scripts than free file descriptors",
  async () => {
    const names = Array.from({ length: 40 }, (_, index) => `p${index}`);
    const manifest = (name: string) => ({ name, scripts: { build: "cat package.json > out; sleep 0.05" } });
    const files = Object.fromEntries(names.map((name) => [`${name}/package.json`, manifest(name)]));
    await using project = await cachedProject({}, files, "build = true");
    await project.write({ "package.json": { name: "root", workspaces: names } });
    const run = `ulimit -n 160; exec "$0" --parallel --filter '*' run build`;
    const all = async () => {
      const env = { XDG_CACHE_HOME: project.cache };
      const { stderr, status } = await runRt({
        program: ["bash", "-c", run, RT],
        cwd: project.path,
        env,
      });
      return [
        status,
        stderr.match(/^(?:warning|error): .*/gm) ?? [],
        stderr.match(/Cached \(saved /g)?.length ?? 0,
      ];
    };
    expect(await all()).toEqual([0, [], 0]);
    expect(await all()).toEqual([0, [], names.length]);
  },
);

test.skipIf(!CAN_TRACE)("--dry-run counts the scripts that would run and the hits separately", async () => {
  await using project = await cachedProject({ one: "cat in", two: "cat in2" }, { in: "1", in2: "1" });
  const plan = async () => {
    const words = ["run", "--sequential", "--dry-run", "one", "two"];
    const { stdout } = await project.rt(words);
    expect((await project.rt(["--why", ...words])).stdout).toBe(stdout);
    const page = (await project.rt(["run", "--sequential", "--dry-run=html", "one", "two"])).stdout;
    expect(JSON.parse(page.match(/<script type="application\/json"[^>]*>(.*?)<\/script>/s)![1]!).count).toBe(
      stdout.trimEnd().split("\n").at(-1),
    );
    return stdout.trimEnd().split("\n").at(-1);
  };
  expect(await plan()).toBe("2 scripts would run");
  await project.rt(["run", "--sequential", "one", "two"]);
  expect(await plan()).toBe("2 scripts cached");
  await project.write({ in: "2" });
  expect(await plan()).toBe("1 of 2 scripts would run (1 cached)");
  const { stdout } = await project.rt(["run", "--sequential", "--dry-run=mermaid", "one", "two"]);
  expect(stdout).toContain(`t0["one<br/>cache miss#58; ${project.path}/in changed"]`);
  expect(stdout).toContain('t1["two<br/>cache hit#58; ');
});

test.skipIf(!CAN_TRACE)(
  "a folder that git ignores may be missing if the script only saw its name in a listing",
  async () => {
    await using project = await cachedProject(
      { lists: "ls web", uses: "ls web; cat web/.next/made; true", packages: "ls node_modules" },
      {
        ".gitignore": ".next\n.other\nnode_modules\n",
        "web/source": "1",
        "web/.next/made": "1",
        "node_modules/one/index.js": "",
        "node_modules/two/index.js": "",
      },
    );
    Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
    const runAll = async () => [
      await project.run("lists"),
      await project.run("uses"),
      await project.run("packages"),
    ];
    expect(await runAll()).toEqual(["ran", "ran", "ran"]);
    expect(await runAll()).toEqual(["hit", "hit", "hit"]);
    await rm(project.join("web/.next"), { recursive: true });
    await rm(project.join("node_modules/two"), { recursive: true });
    expect(await runAll()).toEqual(["hit", "ran", "ran"]);
    await mkdir(project.join("web/.other"));
    expect(await project.run("lists")).toBe("ran");
  },
);
