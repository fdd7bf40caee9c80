// What lies where a script puts something counts as what it reads does: what an earlier run, or somebody else, has left there a
// script may take away, stumble over, or leave. A hit leaves what the script would have left.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { waitUntil } from "../support/processes.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "./cached-project.ts";

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
