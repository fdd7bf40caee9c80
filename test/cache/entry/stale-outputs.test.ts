// What lies where a script puts something counts as what it reads does: what an earlier run, or somebody else, has left there a
// script may take away, stumble over, or leave. A hit leaves what the script would have left.
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
  "made anew": ["rm -rf dist && mkdir dist && cp src/* dist/", "t = true"],
  declared: ["rm -rf dist && mkdir dist && cp src/* dist/", 't = { outputs = ["dist/**"] }'],
  emptied: ["node build.mjs", "t = true"],
};

for (const [what, [script, config]] of Object.entries(BUILDS))
  test.skipIf(!CAN_TRACE)(`a folder that is ${what} has after a hit what a run would leave`, async () => {
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

/** Put there, or taken away, after the run; each makes the script run again. */
const CHANGES: Readonly<Record<string, readonly [script: string, before: Change, after: Change]>> = {
  "a lock that it takes": [
    "if [ -e lock ]; then echo locked; else : > lock; echo built | tee out; rm lock; fi",
    nothing,
    make("lock"),
  ],
  "a folder that it makes for a moment": [
    "mkdir lock && echo built && rmdir lock || true",
    nothing,
    makeFolder("lock"),
  ],
  "a name that it lists, and makes later": ["ls; : > temporary; rm temporary", nothing, make("temporary")],
  "a pipe that is looked at": ["[ -p pipe ] && echo pipe || echo none", makePipe("pipe"), take("pipe")],
  "a pipe that is a file now": [
    "[ -e pipe ] && echo there; [ -f pipe ] && echo file || true",
    makePipe("pipe"),
    async (project) => {
      await rm(project.join("pipe"));
      await project.write({ pipe: "" });
    },
  ],
  "what keeps a folder from being removed": [
    "rmdir d 2>/dev/null && echo removed || echo kept",
    make("d/x"),
    take("d/x"),
  ],
  "what keeps a folder from being replaced": [
    "mkdir t; mv -T t d 2>/dev/null && echo moved || { rmdir t; echo kept; }",
    make("d/x"),
    take("d/x"),
  ],
  "the permissions of a folder": ["stat -c %a d", makeFolder("d"), permit("d", 0o700)],
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

function take(name: string): Change {
  return (project) => rm(project.join(name));
}

function permit(name: string, mode: number): Change {
  return (project) => chmod(project.join(name), mode);
}

for (const [what, [script, before, after]] of Object.entries(CHANGES))
  test.skipIf(!CAN_TRACE)(`${what} counts`, async () => {
    await using project = await cachedProject({ t: script });
    await before(project);
    const ran = await project.run("t");
    expect([ran, await project.run("t")]).toEqual(["ran", "hit"]);
    await after(project);
    expect(await project.run("t")).toBe("ran");
  });

test.skipIf(!CAN_TRACE)("the permissions of a folder that it makes are put back", async () => {
  await using project = await cachedProject({ t: "mkdir -p dist && chmod 750 dist && : > dist/file" });
  expect(await project.run("t")).toBe("ran");
  await rm(project.join("dist"), { recursive: true });
  expect(await project.run("t")).toBe("hit");
  expect((await stat(project.join("dist"))).mode & 0o777).toBe(0o750);
  await chmod(project.join("dist"), 0o700);
  expect(await project.run("t")).not.toBe("hit");
});

test.skipIf(!CAN_TRACE)(
  "what somebody else puts into a folder that it makes is nothing of its own",
  async () => {
    const script = "mkdir dist; : > ready; until test -e go; do sleep 0.02; done; ls dist > list";
    await using project = await cachedProject({ t: script }, {}, 't = { ignore = ["go", "ready"] }');
    const running = project.run("t");
    await waitUntil(() => existsSync(project.join("ready")));
    await writeFile(project.join("dist/foreign"), "");
    await project.write({ go: "" });
    expect(await running).toMatch(/^t was not cached: \$PROJECT\/dist was changed while it ran/);
  },
);

/** Each round one thread makes a folder, and another a file in it, whichever comes first. */
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
  "a file is kept that one thread makes in a folder which another is about to make",
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

/** A branch is an id; what is made has it in its name, as with hashes. */
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
  test.skipIf(!CAN_TRACE)(`a branch that was built once is not built again, by what ${what}`, async () => {
    await using project = await branches(script);
    expect(await runOn(project, "one")).toBe("ran");
    const made = await inDist(project);
    expect([await runOn(project, "two"), await runOn(project, "three")]).toEqual(["ran", "ran"]);
    const left = await inDist(project);
    await project.write({ id: "one" });
    expect((await project.rt(["run", "--dry-run", "t"])).stdout).toContain("would not run again");
    expect(await inDist(project)).toEqual(left); // who only looks takes nothing away
    expect([await runOn(project, "one"), await inDist(project)]).toEqual(["hit", made]);
    expect(await Bun.file(project.join("dist/index")).text()).toBe("one");
    expect([await runOn(project, "one"), await inDist(project)]).toEqual(["hit", made]);
  });

const KEEPS = BRANCH_BUILDS["leaves what is there"]!;

/** After the second branch was built; each makes the first run again, and stays. */
const NOT_LEFT: Readonly<Record<string, readonly [file: string, content: string]>> = {
  "somebody has put": ["dist/foreign", "mine"],
  "somebody has changed": ["dist/two.js", "mine"],
  "somebody has put into a folder of its own": ["dist/deep/foreign", "mine"],
  "somebody has put into a folder of the other's": ["dist/two/foreign", "mine"],
};

for (const [what, [file, content]] of Object.entries(NOT_LEFT))
  test.skipIf(!CAN_TRACE)(`what ${what} there is not taken away`, async () => {
    await using project = await branches(
      `mkdir -p dist/deep dist/$(cat id) && cp id dist/$(cat id)/js; ${KEEPS}`,
    );
    expect([await runOn(project, "one"), await runOn(project, "two")]).toEqual(["ran", "ran"]);
    await project.write({ [file]: content });
    const left = await inDist(project);
    expect([await runOn(project, "one"), await inDist(project)]).toEqual(["ran", left]);
    expect(await Bun.file(project.join(file)).text()).toBe(content);
  });

test.skipIf(!CAN_TRACE)("a file that git does not ignore is replaced as a run would do it", async () => {
  await using project = await branches("cp id built", "");
  expect([await runOn(project, "one"), await runOn(project, "two")]).toEqual(["ran", "ran"]);
  expect(await runOn(project, "one")).toBe("hit");
  expect(await Bun.file(project.join("built")).text()).toBe("one");
  await project.write({ built: "mine" });
  expect(await runOn(project, "one")).toBe("ran");
});

test.skipIf(!CAN_TRACE)("what lies in a folder that is only read is not taken away", async () => {
  await using project = await branches(
    "ls made; mkdir -p made && cp id made/$(cat id) && cp id made/index",
    "made",
  );
  await mkdir(project.join("made"));
  expect([await runOn(project, "one"), await runOn(project, "two")]).toEqual(["ran", "ran"]);
  expect(await runOn(project, "one")).toBe("ran");
  expect((await readdir(project.join("made"))).sort()).toEqual(["index", "one", "two"]);
});

test.skipIf(!CAN_TRACE)("what git does not ignore is not taken away", async () => {
  await using project = await branches(KEEPS, "dist/index");
  expect([await runOn(project, "one"), await runOn(project, "two")]).toEqual(["ran", "ran"]);
  expect(await runOn(project, "one")).toBe("ran");
  expect(await inDist(project)).toEqual(["index", "one.js", "two.js"]);
});

test.skipIf(!CAN_TRACE)("nor, without git, what outputs does not name", async () => {
  const ways = [];
  for (const config of ["t = true", 't = { outputs = ["dist/**"] }']) {
    await using project = await branches(KEEPS, "dist", config);
    await rm(project.join(".git"), { recursive: true });
    await runOn(project, "one");
    await runOn(project, "two");
    ways.push([await runOn(project, "one"), await inDist(project)]);
  }
  expect(ways).toEqual([
    ["ran", ["index", "one.js", "two.js"]],
    ["hit", ["index", "one.js"]],
  ]);
});

test.skipIf(!CAN_TRACE)("what another script has left is not taken away", async () => {
  const scripts = { t: KEEPS, other: "mkdir -p dist && cp id dist/other" };
  await using project = await cachedProject(scripts, { ".gitignore": "dist", id: "one" });
  Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
  expect(await project.run("t")).toBe("ran");
  expect(await project.run("other")).toBe("ran");
  expect(await project.run("t")).toBe("ran");
  expect(await inDist(project)).toEqual(["index", "one.js", "other"]);
});
