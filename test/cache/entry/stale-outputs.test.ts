// Files at the paths of outputs are inputs as well, because a script may delete, keep or fail on them. A hit has the same
// effect as the script.
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { waitUntil } from "../../support/processes.ts";
import {
  CAN_TRACE,
  type Case,
  cachedCases,
  type CachedProject,
  cachedProject,
  mapCases,
} from "../cached-project.ts";

const BUILDS: Readonly<Record<string, Case>> = {
  recreated: { script: "rm -rf dist && mkdir dist && cp src/* dist/" },
  declared: { script: "rm -rf dist && mkdir dist && cp src/* dist/", rule: '{ outputs = ["dist/**"] }' },
  emptied: {
    script: "test -e dist || mkdir dist; for file in dist/*; do rm -rf $file; done; cp src/* dist/",
  },
};

test.skipIf(!CAN_TRACE)(
  "a hit leaves the same files as a run in a folder that is recreated, declared or emptied",
  async () => {
    await using project = await cachedCases(
      mapCases(BUILDS, (each) => ({ ...each, files: { "src/one.js": "1" } })),
    );
    const names = Object.keys(BUILDS);
    const each = <Value>(value: Value) => mapCases(BUILDS, () => value);
    const dist = () => mapCases(BUILDS, (_, name) => readdirSync(project.at(name, "dist")));
    const renameAll = async (from: string, to: string) => {
      for (const name of names) await rename(project.at(name, from), project.at(name, to));
    };
    expect([await project.runAll(), dist()]).toEqual([each("ran"), each(["one.js"])]);
    await renameAll("src/one.js", "src/two.js");
    expect([await project.runAll(), dist()]).toEqual([each("ran"), each(["two.js"])]);
    await renameAll("src/two.js", "src/one.js");
    await project.runAll();
    expect(dist()).toEqual(each(["one.js"]));
    for (const name of names) await writeFile(project.at(name, "dist/foreign"), "");
    await project.runAll();
    expect(dist()).toEqual(each(["one.js"]));
    for (const name of names) await rm(project.at(name, "dist"), { recursive: true });
    expect([await project.runAll(), dist()]).toEqual([each("hit"), each(["one.js"])]);
    expect([await project.runAll(), dist()]).toEqual([each("hit"), each(["one.js"])]);
  },
);

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
    async (at) => {
      await rm(at("pipe"));
      await writeFile(at("pipe"), "");
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

/** @param at returns the path of a file */
type Change = (at: (name: string) => string) => Promise<unknown>;

async function nothing(): Promise<void> {}

function make(name: string): Change {
  return (at) => Bun.write(at(name), "");
}

function makeFolder(name: string): Change {
  return (at) => mkdir(at(name), { mode: 0o755 });
}

function makePipe(name: string): Change {
  return (at) => Bun.$`mkfifo ${at(name)}`;
}

function remove(name: string): Change {
  return (at) => rm(at(name));
}

function setMode(name: string, mode: number): Change {
  return (at) => chmod(at(name), mode);
}

test.skipIf(!CAN_TRACE)("a script runs again after a change of what it found", async () => {
  await using project = await cachedCases(mapCases(CHANGES, ([script]) => ({ script })));
  const [ran, hit] = [mapCases(CHANGES, () => "ran"), mapCases(CHANGES, () => "hit")];
  for (const [what, [, before]] of Object.entries(CHANGES)) await before((name) => project.at(what, name));
  expect([await project.runAll(), await project.runAll()]).toEqual([ran, hit]);
  for (const [what, [, , after]] of Object.entries(CHANGES)) await after((name) => project.at(what, name));
  expect(await project.runAll()).toEqual(ran);
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
      /^t was not cached: another process added or removed \$PROJECT\/dist\/foreign during the run/,
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

/** A script for each case, in one repository. */
async function cachedBranches<Name extends string>(builds: Readonly<Record<Name, string>>) {
  const cases = mapCases(builds, (script) => ({ script, files: { id: "one" } }));
  const project = await cachedCases(cases, { ".gitignore": "dist" });
  Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
  const switchTo = async (branch: string) => {
    for (const name of Object.keys(builds) as Name[]) await writeFile(project.at(name, "id"), branch);
  };
  return {
    ...project,
    switchTo,
    async runOn(branch: string) {
      await switchTo(branch);
      return await project.runAll();
    },
    dists: () =>
      mapCases(builds, (_, name) => readdirSync(project.at(name, "dist"), { recursive: true }).sort()),
  };
}

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

test.skipIf(!CAN_TRACE)("a branch that was built once is a hit", async () => {
  await using project = await cachedBranches(BRANCH_BUILDS);
  const [ran, hit] = [mapCases(BRANCH_BUILDS, () => "ran"), mapCases(BRANCH_BUILDS, () => "hit")];
  expect(await project.runOn("one")).toEqual(ran);
  const made = project.dists();
  expect([await project.runOn("two"), await project.runOn("three")]).toEqual([ran, ran]);
  const left = project.dists();
  await project.switchTo("one");
  const dryRun = await project.rt(["--filter", "*", "--dry-run", "run", "t"]);
  expect(dryRun.stdout).toEndWith("\n3 scripts cached\n");
  expect(project.dists()).toEqual(left); // a dry run deletes nothing
  expect([await project.runOn("one"), project.dists()]).toEqual([hit, made]);
  for (const what of Object.keys(BRANCH_BUILDS))
    expect([what, await Bun.file(project.at(what, "dist/index")).text()]).toEqual([what, "one"]);
  expect([await project.runOn("one"), project.dists()]).toEqual([hit, made]);
});

const KEEPS = BRANCH_BUILDS["leaves what is there"]!;

/** Changes by the user after the second build. Each makes the first branch run again, and is kept. */
const USER_CHANGES: Readonly<Record<string, readonly [file: string, content: string]>> = {
  "the user has created": ["dist/foreign", "mine"],
  "the user has changed": ["dist/two.js", "mine"],
  "the user has created in an output folder": ["dist/deep/foreign", "mine"],
  "the user has created in a stale output folder": ["dist/two/foreign", "mine"],
};

test.skipIf(!CAN_TRACE)("a file of the user is not deleted as a stale output", async () => {
  const build = `mkdir -p dist/deep dist/$(cat id) && cp id dist/$(cat id)/js; ${KEEPS}`;
  await using project = await cachedBranches(mapCases(USER_CHANGES, () => build));
  const ran = mapCases(USER_CHANGES, () => "ran");
  expect([await project.runOn("one"), await project.runOn("two")]).toEqual([ran, ran]);
  const changes = Object.entries(USER_CHANGES);
  for (const [what, [file, content]] of changes) await Bun.write(project.at(what, file), content);
  const left = project.dists();
  expect([await project.runOn("one"), project.dists()]).toEqual([ran, left]);
  for (const [what, [file, content]] of changes)
    expect([what, await Bun.file(project.at(what, file)).text()]).toEqual([what, content]);
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
