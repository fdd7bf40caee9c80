// Files at the paths of outputs are inputs as well, because a script may delete, keep or fail on them. A hit has the same
// effect as the script.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { waitUntil } from "../../support/processes.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

const NODE_BUILD = `
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
if (existsSync("dist")) for (const name of readdirSync("dist")) rmSync("dist/" + name, { recursive: true });
else mkdirSync("dist");
for (const name of readdirSync("src")) writeFileSync("dist/" + name, readFileSync("src/" + name));
`;

const BUILDS: Readonly<Record<string, readonly [script: string, config: string]>> = {
  recreated: ["rm -rf dist && mkdir dist && cp src/* dist/", "t = true"],
  declared: ["rm -rf dist && mkdir dist && cp src/* dist/", 't = { outputs = ["dist/**"] }'],
  emptied: ["node build.mjs", "t = true"],
};

for (const [what, [script, config]] of Object.entries(BUILDS))
  test.skipIf(!CAN_TRACE)(`a hit leaves the same files as a run in a folder that is ${what}`, async () => {
    await using project = await cachedProject(
      { t: script },
      { "src/one.js": "1", "build.mjs": NODE_BUILD },
      config,
    );
    const dist = async () => await readdir(project.join("dist"));
    expect([await project.run("t"), await dist()]).toEqual(["ran", ["one.js"]]);
    await rename(project.join("src/one.js"), project.join("src/two.js"));
    expect([await project.run("t"), await dist()]).toEqual(["ran", ["two.js"]]);
    await rename(project.join("src/two.js"), project.join("src/one.js"));
    await project.run("t");
    expect(await dist()).toEqual(["one.js"]);
    await project.write({ "dist/foreign": "" });
    await project.run("t");
    expect(await dist()).toEqual(["one.js"]);
    await rm(project.join("dist"), { recursive: true });
    expect([await project.run("t"), await dist()]).toEqual(["hit", ["one.js"]]);
    expect([await project.run("t"), await dist()]).toEqual(["hit", ["one.js"]]);
  });

/** Changes after the run; each makes the script run again. */
const CHANGES: Readonly<Record<string, readonly [script: string, before: Change, after: Change]>> = {
  "a lock that it takes": [
    "if [ -e lock ]; then echo locked; else : > lock; echo built | tee out; rm lock; fi",
    nothing,
    make("lock"),
  ],
  "a folder that it creates and removes": [
    "mkdir lock && echo built && rmdir lock || true",
    nothing,
    makeFolder("lock"),
  ],
  "a listed name that it creates later": ["ls; : > temporary; rm temporary", nothing, make("temporary")],
  "a probed pipe": ["[ -p pipe ] && echo pipe || echo none", makePipe("pipe"), remove("pipe")],
  "a pipe that was replaced by a file": [
    "[ -e pipe ] && echo there; [ -f pipe ] && echo file || true",
    makePipe("pipe"),
    async (project) => {
      await rm(project.join("pipe"));
      await project.write({ pipe: "" });
    },
  ],
  "a file that prevents the removal of a folder": [
    "rmdir d 2>/dev/null && echo removed || echo kept",
    make("d/x"),
    remove("d/x"),
  ],
  "a file that prevents the replacement of a folder": [
    "mkdir t; mv -T t d 2>/dev/null && echo moved || { rmdir t; echo kept; }",
    make("d/x"),
    remove("d/x"),
  ],
  "the mode of a folder": ["stat -c %a d", makeFolder("d"), setMode("d", 0o700)],
};

type Change = (project: CachedProject) => Promise<unknown>;

async function nothing(): Promise<void> {}

function make(name: string): Change {
  return (project) => project.write({ [name]: "" });
}

function makeFolder(name: string): Change {
  return (project) => mkdir(project.join(name), { mode: 0o755 });
}

function makePipe(name: string): Change {
  return (project) => Bun.$`mkfifo ${project.join(name)}`;
}

function remove(name: string): Change {
  return (project) => rm(project.join(name));
}

function setMode(name: string, mode: number): Change {
  return (project) => chmod(project.join(name), mode);
}

for (const [what, [script, before, after]] of Object.entries(CHANGES))
  test.skipIf(!CAN_TRACE)(`a script runs again after a change of ${what}`, async () => {
    await using project = await cachedProject({ t: script });
    await before(project);
    const ran = await project.run("t");
    expect([ran, await project.run("t")]).toEqual(["ran", "hit"]);
    await after(project);
    expect(await project.run("t")).toBe("ran");
  });

test.skipIf(!CAN_TRACE)("a hit restores the permissions of a folder that the script created", async () => {
  await using project = await cachedProject({ t: "mkdir -p dist && chmod 750 dist && : > dist/file" });
  expect(await project.run("t")).toBe("ran");
  await rm(project.join("dist"), { recursive: true });
  expect(await project.run("t")).toBe("hit");
  expect((await stat(project.join("dist"))).mode & 0o777).toBe(0o750);
  await chmod(project.join("dist"), 0o700);
  expect(await project.run("t")).not.toBe("hit");
});

test.skipIf(!CAN_TRACE)(
  "a run is not cached when another process creates a file in a folder that the script created",
  async () => {
    const script = "mkdir dist; : > ready; until test -e go; do sleep 0.05; done; ls dist > list";
    await using project = await cachedProject({ t: script }, {}, 't = { ignore = ["go", "ready"] }');
    const running = project.run("t");
    await waitUntil(() => existsSync(project.join("ready")));
    await writeFile(project.join("dist/foreign"), "");
    await project.write({ go: "" });
    expect(await running).toMatch(
      /^t was not cached: another process changed \$PROJECT\/dist during the run/,
    );
  },
);

/** In each round one thread creates a folder, and another a file in it, in any order. */
const THREADS = `
import { mkdirSync, writeFileSync } from "node:fs";
import { Worker, isMainThread, workerData } from "node:worker_threads";
const gate = new Int32Array(isMainThread ? new SharedArrayBuffer(4) : workerData);
const makeFile = (round) => { try { writeFileSync("out/" + round + "/file", ""); } catch {} };
const meet = (round) => { Atomics.add(gate, 0, 1); while (Atomics.load(gate, 0) < 2 * round + 2); };
const worker = isMainThread && new Worker(new URL(import.meta.url), { workerData: gate.buffer });
if (isMainThread) mkdirSync("out");
for (let round = 0; round < 100; round++) {
  meet(round);
  if (isMainThread) mkdirSync("out/" + round); else makeFile(round);
}
`;

test.skipIf(!CAN_TRACE)(
  "a hit restores a file that one thread created in a folder of another thread",
  async () => {
    await using project = await cachedProject({ t: "node threads.mjs" }, { "threads.mjs": THREADS });
    const files = async () => (await readdir(project.join("out"), { recursive: true })).sort();
    expect(await project.run("t")).toBe("ran");
    const made = await files();
    await rm(project.join("out"), { recursive: true });
    expect(await project.run("t")).toBe("hit");
    expect(await files()).toEqual(made);
  },
);

/** A branch is an ID. The outputs have it in their names, like hashed file names. */
const BRANCH_BUILDS: Readonly<Record<string, string>> = {
  "empties its folder": "rm -rf dist && mkdir dist && cp id dist/$(cat id).js && cp id dist/index",
  "leaves what is there": "mkdir -p dist && cp id dist/$(cat id).js && cp id dist/index",
  "makes folders with other names":
    "rm -rf dist/*; mkdir -p dist/$(cat id)/deep && cp id dist/$(cat id)/deep/js && cp id dist/index",
};

async function branches(script: string, ignored = "dist", config = "t = true"): Promise<CachedProject> {
  const project = await cachedProject({ t: script }, { ".gitignore": ignored, id: "one" }, config);
  Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
  return project;
}

async function runOn(project: CachedProject, branch: string): Promise<string> {
  await project.write({ id: branch });
  return await project.run("t");
}

async function inDist(project: CachedProject): Promise<string[]> {
  return (await readdir(project.join("dist"), { recursive: true })).sort();
}

for (const [what, script] of Object.entries(BRANCH_BUILDS))
  test.skipIf(!CAN_TRACE)(`a branch that was built once is a hit for a script that ${what}`, async () => {
    await using project = await branches(script);
    expect(await runOn(project, "one")).toBe("ran");
    const made = await inDist(project);
    expect([await runOn(project, "two"), await runOn(project, "three")]).toEqual(["ran", "ran"]);
    const left = await inDist(project);
    await project.write({ id: "one" });
    expect((await project.rt(["run", "--dry-run", "t"])).stdout).toEndWith("\n1 script cached\n");
    expect(await inDist(project)).toEqual(left); // a dry run deletes nothing
    expect([await runOn(project, "one"), await inDist(project)]).toEqual(["hit", made]);
    expect(await Bun.file(project.join("dist/index")).text()).toBe("one");
    expect([await runOn(project, "one"), await inDist(project)]).toEqual(["hit", made]);
  });

const KEEPS = BRANCH_BUILDS["leaves what is there"]!;

/** Changes by the user after the second build. Each makes the first branch run again, and is kept. */
const USER_CHANGES: Readonly<Record<string, readonly [file: string, content: string]>> = {
  "the user has created": ["dist/foreign", "mine"],
  "the user has changed": ["dist/two.js", "mine"],
  "the user has created in an output folder": ["dist/deep/foreign", "mine"],
  "the user has created in a stale output folder": ["dist/two/foreign", "mine"],
};

for (const [what, [file, content]] of Object.entries(USER_CHANGES))
  test.skipIf(!CAN_TRACE)(`a file that ${what} is not deleted as a stale output`, async () => {
    await using project = await branches(
      `mkdir -p dist/deep dist/$(cat id) && cp id dist/$(cat id)/js; ${KEEPS}`,
    );
    expect([await runOn(project, "one"), await runOn(project, "two")]).toEqual(["ran", "ran"]);
    await project.write({ [file]: content });
    const left = await inDist(project);
    expect([await runOn(project, "one"), await inDist(project)]).toEqual(["ran", left]);
    expect(await Bun.file(project.join(file)).text()).toBe(content);
  });

test.skipIf(!CAN_TRACE)("a hit replaces a stale output that git does not ignore", async () => {
  await using project = await branches("cp id built", "");
  expect([await runOn(project, "one"), await runOn(project, "two")]).toEqual(["ran", "ran"]);
  expect(await runOn(project, "one")).toBe("hit");
  expect(await Bun.file(project.join("built")).text()).toBe("one");
  await project.write({ built: "mine" });
  expect(await runOn(project, "one")).toBe("ran");
});

test.skipIf(!CAN_TRACE)(
  "a folder that the script only lists keeps its stale outputs, so the script runs again",
  async () => {
    await using project = await branches(
      "ls made; mkdir -p made && cp id made/$(cat id) && cp id made/index",
      "made",
    );
    await mkdir(project.join("made"));
    expect([await runOn(project, "one"), await runOn(project, "two")]).toEqual(["ran", "ran"]);
    expect(await runOn(project, "one")).toBe("ran");
    expect((await readdir(project.join("made"))).sort()).toEqual(["index", "one", "two"]);
  },
);

test.skipIf(!CAN_TRACE)("a stale output that git does not ignore is not deleted", async () => {
  await using project = await branches(KEEPS, "dist/index");
  expect([await runOn(project, "one"), await runOn(project, "two")]).toEqual(["ran", "ran"]);
  expect(await runOn(project, "one")).toBe("ran");
  expect(await inDist(project)).toEqual(["index", "one.js", "two.js"]);
});

test.skipIf(!CAN_TRACE)("a stale output outside outputs is not deleted without git", async () => {
  const results = [];
  for (const config of ["t = true", 't = { outputs = ["dist/**"] }']) {
    await using project = await branches(KEEPS, "dist", config);
    await rm(project.join(".git"), { recursive: true });
    await runOn(project, "one");
    await runOn(project, "two");
    results.push([await runOn(project, "one"), await inDist(project)]);
  }
  expect(results).toEqual([
    ["ran", ["index", "one.js", "two.js"]],
    ["hit", ["index", "one.js"]],
  ]);
});

test.skipIf(!CAN_TRACE)("a stale output of another script is not deleted", async () => {
  const scripts = { t: KEEPS, other: "mkdir -p dist && cp id dist/other" };
  await using project = await cachedProject(scripts, { ".gitignore": "dist", id: "one" });
  Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
  expect(await project.run("t")).toBe("ran");
  expect(await project.run("other")).toBe("ran");
  expect(await project.run("t")).toBe("ran");
  expect(await inDist(project)).toEqual(["index", "one.js", "other"]);
});
