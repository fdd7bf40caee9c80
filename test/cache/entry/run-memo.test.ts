// A run of many scripts that finds everything as the one before did is told again without being planned. What could make
// it tell the wrong thing: an input that is not looked at. So each is changed, and the answer compared with that of the
// ordinary way; and strace tells what that looks at.
import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Files } from "../../support/project.ts";
import { cleanEnvironment, type Environment, RT } from "../../support/rt.ts";
import { trustOf } from "../../support/trusted.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

const GIT = cleanEnvironment({
  ...{ GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@example.com" },
  ...{ GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@example.com", GIT_CONFIG_GLOBAL: "/dev/null" },
});
const COUNT = 12;
const RUN = ["--filter", "*", "run", "build"];
const MOST_ROUNDS = 8;
const ALL = `recalled ${COUNT} of ${COUNT} scripts`;

/**
 * What each package's script looks at, but for its own files. What fails says nothing: cat writes a message in several pieces,
 * and between them another script's line may come.
 */
const LINES: readonly string[] = [
  "mkdir -p dist; cat src/a ../../shared > dist/out; echo made $npm_package_version",
  "tool src/a",
  'echo "level $LEVEL"; cat src/a',
  "cat .env 2>/dev/null",
  "cat src/link",
  "ls src",
  "test -e ../../flag && echo flagged; true",
  "cat ../p0/dist/out",
  "test -d src && cat src/* 2>/dev/null",
  "readlink src/link; test -e src/a && cat src/a >&2",
];

function files(): Files {
  const all: Files = {
    "package.json": { name: "root", workspaces: ["packages/*"] },
    shared: "shared\n",
    common: "common\n",
    target: "target\n",
    "bin/tool": '#!/bin/sh\ncat "$1"\n',
  };
  for (let index = 0; index < COUNT; index += 1) {
    const at = `packages/p${index}`;
    const build = LINES[index] ?? "cat src/a ../../common; echo $npm_package_version";
    all[`${at}/package.json`] = {
      ...{ name: `p${index}`, version: "1.0.0", scripts: { build } },
      ...(index === 7 && { dependencies: { p0: "workspace:*" } }),
    };
    all[`${at}/src/a`] = `a of ${index}\n`;
    all[`${at}/src/b`] = `b of ${index}\n`;
  }
  all["packages/p3/.env"] = "A=1\n";
  return all;
}

interface Recalled extends CachedProject {
  readonly env: Environment;
  /** Its answer, without times; and how much of it was recalled. */
  build(words?: readonly string[], env?: Environment): Promise<{ said: string; recalled: string }>;
  /** Runs it until all of it is recalled, or so many of its scripts. */
  settle(count?: number, env?: Environment): Promise<void>;
}

// All projects of this file have one cache folder, one after the other, since where it is belongs to what a script
// depends on. It begins as the first of them left it, so that the scripts of the others need not run.
const folder = realpathSync(mkdtempSync(join(tmpdir(), "rt-recall-")));
const [CACHE, FILLED] = [join(folder, "cache"), join(folder, "filled")];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @param more files that are others @param rules lines of [run.cache] */
async function recalledProject(more: Files = {}, rules = ""): Promise<Recalled> {
  const project = await cachedProject({}, { ...files(), ...more }, `build = { env = ["LEVEL"] }\n${rules}`);
  chmodSync(project.join("bin/tool"), 0o755);
  for (const index of [4, 9]) symlinkSync("../../../target", project.join(`packages/p${index}/src/link`));
  renameSync(project.join("packages/p6/package.json"), project.join("manifest"));
  symlinkSync("../../manifest", project.join("packages/p6/package.json"));
  const env = {
    LEVEL: "1",
    XDG_CACHE_HOME: CACHE,
    RT_DEBUG: "recall",
    PATH: `${project.join("early")}:${project.join("bin")}:${process.env.PATH}`,
  };
  const build: Recalled["build"] = async (words = RUN, more = {}) => {
    const { stdout, stderr, status } = await project.rt(words, { ...env, ...more });
    const lines = stderr.split("\n");
    const recalled = lines.filter((line) => line.includes("recalled "));
    const told = lines.filter((line) => !/recalled |^Slowest: /.test(line) && line !== "");
    const said = [...stdout.split("\n").sort(), ...told.sort(), `${status}`].join("\n");
    return { said: said.replace(/\b[\d.]+ m?s\b/g, "TIME"), recalled: recalled.join() };
  };
  const settle = async (count = COUNT, more: Environment = {}) => {
    // It is found by the ordinary way, and is found to have been so for a while.
    let recalled = "";
    const wanted = `recalled ${count} of ${COUNT} scripts`;
    for (let round = 0; round < MOST_ROUNDS && recalled !== wanted; round += 1)
      ({ recalled } = await build(RUN, more));
    expect(recalled).toBe(wanted);
  };
  rmSync(CACHE, { recursive: true, force: true });
  if (existsSync(FILLED)) swap(FILLED, CACHE);
  else {
    await build();
    swap(CACHE, FILLED);
  }
  const shared = { ...project, cache: CACHE, env, build, settle };
  return { ...shared, [Symbol.asyncDispose]: project[Symbol.asyncDispose] };
}

const STORE = "scripts-4";
const stores = (project: CachedProject) => join(project.cache, "rt", STORE);
const memories = (project: CachedProject) => join(stores(project), "recalled");

/** What is in the project now, and in which state. */
function treeOf(project: CachedProject): string[] {
  const paths = readdirSync(project.path, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name));
  return paths
    .filter((path) => !path.includes("log"))
    .sort()
    .map((path) => `${path} ${statSync(path).mode} ${Bun.hash(readFileSync(path))}`);
}

/** The same at the same path, which are other files. */
function swap(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

type Change = (project: Recalled, sh: (line: string) => void) => void;

const sh =
  (line: string): Change =>
  (_, run) =>
    run(line);

/** The largest file of the last run's, and what is done to it. */
const memory =
  (change: (path: string) => void): Change =>
  (project) => {
    for (const name of readdirSync(memories(project))) change(join(memories(project), name));
  };

const CHANGES: Readonly<Record<string, Change>> = {
  "a file is longer": sh("echo x >> packages/p0/src/a"),
  "a file is another of the same size and time": sh(
    "touch -r packages/p8/src/a t; printf 'A OF 8\\n' > packages/p8/src/a; touch -r t packages/p8/src/a; rm t",
  ),
  "a file is another that was renamed to it": sh(
    "cp -p packages/p8/src/a t; echo y >> t; mv t packages/p8/src/a",
  ),
  "a file has other permissions": sh("chmod 600 packages/p8/src/a"),
  "a file outside of the packages is another": sh("echo more >> shared"),
  "a file that several scripts read is another": sh("echo more >> common"),
  "a file is gone": sh("rm packages/p9/src/a"),
  "a file is a folder": sh("rm packages/p8/src/a; mkdir packages/p8/src/a"),
  "a file is new where names were listed": sh("echo > packages/p5/src/c"),
  "a file has another name": sh("mv packages/p5/src/b packages/p5/src/c"),
  "a folder is a link to another": sh(
    "mv packages/p5/src moved; rm moved/b; ln -s ../../moved packages/p5/src",
  ),
  "a link leads elsewhere": sh("ln -sfn ../../../shared packages/p4/src/link"),
  "what a link leads to is another": sh("echo more >> target"),
  "what was not there is there": sh("touch flag"),
  "a file of variables is another": sh("echo A=2 > packages/p3/.env"),
  "a file of variables is gone": sh("rm packages/p3/.env"),
  "a script is another": sh("sed -i 's/cat src/cat -n src/' packages/p11/package.json"),
  "a package has another version": sh("sed -i s/1.0.0/1.0.1/ packages/p0/package.json"),
  "a package has another name": sh("sed -i s/p10/q10/ packages/p10/package.json"),
  "what a package.json leads to is another": sh("sed -i s/1.0.0/1.0.2/ manifest"),
  "a package is new": sh("cp -r packages/p11 packages/p99; sed -i s/p11/p99/ packages/p99/package.json"),
  "a package is gone": sh("rm -r packages/p11"),
  "a package has no package.json any more": sh("rm packages/p11/package.json"),
  "a package.json is none": sh("echo '{' > packages/p11/package.json"),
  "a package waits for another": sh(
    `sed -i 's/"name": "p10"/"name": "p10", "dependencies": {"p11": "*"}/' packages/p10/package.json`,
  ),
  "the workspace has other packages": sh("sed -i 's#packages/\\*#packages/p?#' package.json"),
  "a folder of a package is a link": sh("mv packages/p11 moved; ln -s ../moved packages/p11"),
  "another file lists packages": sh("printf 'packages: [packages/p1]\\n' > pnpm-workspace.yaml"),
  "a script is not cached any more": sh("echo '\"p11#build\" = false' >> rtfig.toml"),
  "a script has outputs that are its own": sh(
    'printf \'[run.cache."p0#build"]\\noutputs = ["dist/**"]\\n\' >> rtfig.toml',
  ),
  "no script is cached": sh("echo > rtfig.toml"),
  "what was made is gone": sh("rm packages/p0/dist/out"),
  "all that was made is gone": sh("rm -r packages/p0/dist"),
  "what was made is another": sh("echo x >> packages/p0/dist/out"),
  "what was made has other permissions": sh("chmod 600 packages/p0/dist/out"),
  "a program is another": sh("echo echo more >> bin/tool"),
  "a program is found earlier": sh(
    "mkdir early; printf '#!/bin/sh\\necho early\\n' > early/tool; chmod +x early/tool",
  ),
  "a program may not be executed": sh("chmod -x bin/tool"),
  "a program of the package's own is found": sh(
    "mkdir -p packages/p1/node_modules/.bin; cp bin/tool packages/p1/node_modules/.bin; echo echo own >> packages/p1/node_modules/.bin/tool",
  ),
  "a program of the workspace's is found": sh(
    "mkdir -p node_modules/.bin; cp bin/tool node_modules/.bin; echo echo own >> node_modules/.bin/tool",
  ),
  "what a script wrote is damaged in the store": (project, run) =>
    run(`cd ${stores(project)}/blobs; for f in */*; do echo x >> $f; done`),
  "what scripts wrote is gone from the store": (project, run) => run(`rm -r ${stores(project)}/blobs/*`),
  "an entry is gone from the store": (project, run) =>
    run(`cd ${stores(project)}/keys; rm "$(ls */*.zst | head -1)"`),
  "an entry is damaged in the store": (project, run) =>
    run(`cd ${stores(project)}/keys; echo >> "$(ls */*.zst | head -1)"`),
  "all entries are gone": (project, run) => run(`rm -r ${stores(project)}/keys/*`),
  "the store is empty": (project, run) => run(`rm -r ${stores(project)}`),
  "what was found out is gone": (project, run) => run(`rm ${stores(project)}/scripts/*`),
  "the memory is cut off": memory((path) => writeFileSync(path, readFileSync(path).subarray(0, 999))),
  "the memory is empty": memory((path) => writeFileSync(path, "")),
  "others may write where the memory is": (project) => chmodSync(memories(project), 0o777),
  "the memory is a folder": (project, run) =>
    run(`cd ${memories(project)}; for f in *; do rm $f; mkdir $f; done`),
  "a byte of the memory is another": memory((path) => {
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(200) ^ 1, 200);
    writeFileSync(path, bytes);
  }),
};

test.skipIf(!CAN_TRACE).each(Object.entries(CHANGES))(
  "when %s, a run says what one without a memory does",
  async (_, change) => {
    await using project = await recalledProject();
    await project.settle();
    change(project, (line) => {
      const { exitCode, stderr } = Bun.spawnSync(["sh", "-ec", line], { cwd: project.path });
      expect({ exitCode, said: `${stderr}` }).toEqual({ exitCode: 0, said: "" });
    });
    await compareWithOrdinary(project);
  },
);

/** The same run of the same files, with what is remembered and without. */
async function compareWithOrdinary(
  project: Recalled,
  words: readonly string[] = RUN,
  env: Environment = {},
): Promise<void> {
  const [was, cache] = [`${project.path}.was`, `${project.cache}.was`];
  try {
    swap(project.path, was);
    swap(project.cache, cache);
    const { said, recalled } = await project.build(words, env);
    const tree = treeOf(project);
    swap(was, project.path);
    swap(cache, project.cache);
    if (existsSync(stores(project))) rmSync(memories(project), { recursive: true, force: true });
    const ordinary = await project.build(words, env);
    expect(recalled).not.toContain(ALL);
    expect(said).toBe(ordinary.said);
    expect(tree).toEqual(treeOf(project));
  } finally {
    for (const path of [was, cache]) rmSync(path, { recursive: true, force: true });
  }
}

/** What of the environment, the words or the place is another: it is asked something else. */
const QUESTIONS: Readonly<Record<string, readonly [words: readonly string[], env: Environment]>> = {
  "a variable that is declared": [RUN, { LEVEL: "2" }],
  "a variable that nobody gets": [RUN, { UNKNOWN: "1" }],
  "a variable that decides on colours": [RUN, { FORCE_COLOR: "1" }],
  "an argument": [[...RUN, "src/b"], {}],
  "another filter": [["--filter", "p?", "--filter", "p1*", "run", "build"], {}],
  "another directory": [["--cwd", "packages/p1", ...RUN], {}],
  "a limit": [["--concurrency", "1", ...RUN], {}],
  "no reading": [["--force", ...RUN], {}],
  "no cache": [["--no-cache", ...RUN], {}],
  reasons: [["--why", ...RUN], {}],
};

test.skipIf(!CAN_TRACE).each(Object.entries(QUESTIONS))(
  "a run that is asked for %s besides goes the ordinary way",
  async (_, [words, env]) => {
    await using project = await recalledProject();
    await project.settle();
    await compareWithOrdinary(project, words, env);
  },
);

test.skipIf(!CAN_TRACE)(
  "after one change all other scripts are recalled, and then that one as well",
  async () => {
    await using project = await recalledProject();
    await project.settle();
    const before = (await project.build()).said;
    writeFileSync(project.join("packages/p11/src/a"), "another\n");
    const { said, recalled } = await project.build();
    expect(recalled).toBe(`recalled ${COUNT - 1} of ${COUNT} scripts`);
    expect(said).toContain("p11 build: another");
    expect(said.split("Done before").length).toBe(before.split("Done before").length - 1);
    await project.settle();
    expect((await project.build()).said.replace("another", "a of 11")).toBe(before);
  },
);

test.skipIf(!CAN_TRACE)(
  "a script that comes after one that runs is looked at when its turn comes",
  async () => {
    await using project = await recalledProject();
    await project.settle();
    // p7 waits for p0, and reads what that makes.
    writeFileSync(project.join("packages/p0/src/a"), "another\n");
    expect((await project.build()).said).toContain("p7 build: another");
  },
);

/** p10 is not cached, and does something to others once it has a file `now`; p11 waits for it. */
async function meddlingProject(line: string): Promise<Recalled> {
  const manifest = (name: string, build: string, dependencies = {}) => ({
    ...{ name, version: "1.0.0", scripts: { build }, dependencies },
  });
  return await recalledProject(
    {
      "packages/p10/package.json": manifest("p10", `if test -e now; then ${line}; fi`),
      "packages/p11/package.json": manifest("p11", "cat src/a; echo is $npm_package_version", { p10: "*" }),
    },
    '"p10#build" = false',
  );
}

test.skipIf(!CAN_TRACE)("a script runs as the plan had it, whatever came before it", async () => {
  await using project = await meddlingProject("sed -i s/1.0.0/3.0.0/ ../p11/package.json");
  await project.settle(COUNT - 1);
  writeFileSync(project.join("packages/p10/now"), "");
  writeFileSync(project.join("packages/p11/src/a"), "another\n");
  await compareWithOrdinary(project);
  expect(readFileSync(project.join("packages/p11/package.json"), "utf8")).toContain("3.0.0");
});

test.skipIf(!CAN_TRACE)("what something has changed since it was looked at is not remembered", async () => {
  await using project = await meddlingProject("echo new >> ../../shared");
  await project.settle(COUNT - 1);
  const words = ["--concurrency", "1", ...RUN];
  // Its second time, in which it is remembered.
  await project.build(words);
  writeFileSync(project.join("packages/p10/now"), "");
  // p0 is judged before p10 runs.
  expect((await project.build(words)).said).toContain("p0 build: made 1.0.0");
  await project.build(words);
  expect(readFileSync(project.join("packages/p0/dist/out"), "utf8")).toBe("a of 0\nshared\nnew\n");
});

test.skipIf(!CAN_TRACE)("what globs of its rule mean is found out each time", async () => {
  await using project = await recalledProject(
    { "packages/p8/more/a.txt": "" },
    '"p8#build" = { inputs = ["more/*.txt"] }\n"p9#build" = { inputs = ["src/b"] }',
  );
  await project.settle(COUNT - 1);
  writeFileSync(project.join("packages/p8/more/b.txt"), "");
  await compareWithOrdinary(project);
  await project.settle(COUNT - 1);
  writeFileSync(project.join("packages/p9/src/b"), "another\n");
  await compareWithOrdinary(project);
});

test.skipIf(!CAN_TRACE).each([
  ["pnpm-workspace.yaml is another", "packages: [packages/p?]\n"],
  ["pnpm-workspace.yaml is empty", ""],
])("when %s, a run says what one without a memory does", async (_, text) => {
  await using project = await recalledProject({
    "package.json": { name: "root" },
    "pnpm-workspace.yaml": "packages: ['packages/*']\n",
  });
  await project.settle();
  writeFileSync(project.join("pnpm-workspace.yaml"), text);
  await compareWithOrdinary(project);
});

test.skipIf(!CAN_TRACE)("an edited file of --env-file makes the scripts run again", async () => {
  await using project = await recalledProject({ "own.env": "LEVEL=2\n" });
  const words = ["--env-file", "own.env", ...RUN];
  const env = { LEVEL: undefined };
  for (let round = 0; round < 4; round += 1)
    expect((await project.build(words, env)).said).toContain("p2 build: level 2");
  writeFileSync(project.join("own.env"), "LEVEL=3\n");
  expect((await project.build(words, env)).said).toContain("p2 build: level 3");
});

/** Runs that the memory does not cover, each by one option or setting; the plain run is the control. */
const UNCOVERED: Readonly<Record<string, readonly [words: readonly string[], env?: Environment]>> = {
  "--env-file": [["--env-file", "own.env"]],
  "--affected": [["--affected=HEAD"]],
  "--shard": [["--shard=1/1"]],
  "--dry-run": [["--dry-run"]],
  "--report": [["--report=report.json"]],
  "--why": [["--why"]],
  "--shell": [["--shell", "rt"]],
  "--rt": [["--rt"]],
  "--force": [["--force"]],
  "--cache=local:r": [["--cache=local:r"]],
  "--cache=local:w": [["--cache=local:w"]],
  "--verify-inputs": [["--verify-inputs"]],
  "a shared cache": [
    [],
    { TURBO_API: "http://127.0.0.1:9", TURBO_TOKEN: "t", TURBO_REMOTE_CACHE_SIGNATURE_KEY: "k".repeat(32) },
  ],
};

test.skipIf(!CAN_TRACE)("each option that the memory does not cover bypasses it", async () => {
  await using project = await recalledProject({ "own.env": "LEVEL=2\n" });
  const git = (...words: string[]) => Bun.spawnSync(["git", ...words], { cwd: project.path, env: GIT });
  for (const words of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-qm", "one"],
  ])
    git(...words);
  expect((await project.build()).recalled).toStartWith("recalled ");
  for (const [what, [words, env]] of Object.entries(UNCOVERED))
    expect([what, (await project.build([...words, ...RUN], env)).recalled]).toEqual([what, ""]);
  const lines =
    '[secrets.PASSWORD]\nfrom.command = ["echo", "a-value-of-some-length"]\n[run.secrets]\n"p1#build" = ["PASSWORD"]\n';
  writeFileSync(project.join("rtfig.toml"), `${readFileSync(project.join("rtfig.toml"), "utf8")}${lines}`);
  const trusted = { RT_TRUST: await trustOf(project.path) };
  expect((await project.build(RUN, trusted)).recalled).toBe("");
});

test.skipIf(!CAN_TRACE)("a plan with something to say of itself is made each time", async () => {
  await using project = await recalledProject({
    "package.json": { name: "root", workspaces: ["packages/*", "absent"] },
  });
  for (let round = 0; round < 4; round += 1) await project.build();
  const { said, recalled } = await project.build();
  expect(said).toContain("the workspace lists it, but it does not exist");
  expect(recalled).toBe(`recalled 0 of ${COUNT} scripts`);
});

test.skipIf(!CAN_TRACE)(
  "hits whose entries were not used for long are found by the ordinary way, which marks them",
  async () => {
    await using project = await recalledProject();
    await project.settle();
    const path = join(memories(project), readdirSync(memories(project))[0]!);
    const body = readFileSync(path, "latin1").slice(65);
    const past = Date.now() - 2 * 3_600_000;
    const older = body.replaceAll(/"used":[\d.]+/g, `"used":${past}`);
    const digest = new Bun.CryptoHasher("sha256").update(Buffer.from(older, "latin1")).digest("hex");
    const content = Buffer.from(`${digest}\n${older}`, "latin1");
    expect(older).not.toBe(body);
    writeFileSync(path, content);
    expect((await project.build()).recalled).toBe(`recalled 0 of ${COUNT} scripts`);
    expect((await project.build()).recalled).toBe(ALL);
  },
);

test.skipIf(!CAN_TRACE)(
  "what is remembered has no value of a variable in it, and is this user's alone",
  async () => {
    await using project = await recalledProject();
    const env = { LEVEL: "the-level", UNKNOWN: "a-secret-value" };
    await project.settle(COUNT, env);
    const names = readdirSync(memories(project));
    expect(names).toHaveLength(1);
    const path = join(memories(project), names[0]!);
    expect(readFileSync(path, "latin1")).not.toMatch(/the-level|a-secret-value/);
    expect([statSync(path).mode & 0o777, statSync(memories(project)).mode & 0o777]).toEqual([0o600, 0o700]);
  },
);

/** Bytes: of a file that has its digest and nothing else. */
const EMPTY = 65;

test.skipIf(!CAN_TRACE)("what is asked once is not remembered, only that it was asked", async () => {
  await using project = await recalledProject();
  await project.settle();
  await project.build(RUN, { UNKNOWN: "once" });
  const sizes = readdirSync(memories(project)).map((name) => statSync(join(memories(project), name)).size);
  expect(sizes.map((size) => size > EMPTY).sort()).toEqual([false, true]);
});

test.skipIf(!CAN_TRACE)("few are kept, the newest", async () => {
  await using project = await recalledProject();
  await project.settle();
  for (let number = 0; number < 10; number += 1) await project.build(RUN, { UNKNOWN: `${number}` });
  expect(readdirSync(memories(project))).toHaveLength(8);
  await project.build(RUN, { UNKNOWN: "9" });
  expect((await project.build(RUN, { UNKNOWN: "9" })).recalled).toBe(ALL);
});

const SHOWN = /^\d+ +(\w+)\((?:AT_FDCWD, |\d+, )?"((?:[^"\\]|\\.)*)"/;
/** Of the system's, and of rt's own start; and what memories are: nothing goes by them but by their stamps. */
const NOT_INPUTS =
  /^\/(?:proc|dev|sys)\/|\/scripts-4\/(?:blobs|hashes|known|recalled|presence|drafts|secret)\b/;

/** What rt itself opens, looks at or lists. */
async function pathsOf(project: Recalled): Promise<{ paths: Set<string>; said: string }> {
  const log = `${project.cache}.log`;
  const words = ["strace", "-f", "-s", "4096", "-o", log, "-e", "trace=%file,getdents64", RT, ...RUN];
  const env = cleanEnvironment(project.env);
  const ran = Bun.spawn(words, { cwd: project.path, env, stdout: "ignore", stderr: "pipe" });
  const said = await new Response(ran.stderr).text();
  const paths = new Set<string>();
  for (const line of (await Bun.file(log).text()).split("\n")) {
    const path = SHOWN.exec(line)?.[2];
    if (path !== undefined && !NOT_INPUTS.test(path)) paths.add(path.replace(/\/$/, ""));
  }
  rmSync(log);
  return { paths, said };
}

test.skipIf(process.platform !== "linux")(
  "strace shows no path of the ordinary way that is not looked at again",
  async () => {
    await using project = await recalledProject();
    let recalled = await pathsOf(project);
    for (let round = 0; round < MOST_ROUNDS && !recalled.said.includes(ALL); round += 1)
      recalled = await pathsOf(project);
    rmSync(memories(project), { recursive: true });
    const ordinary = await pathsOf(project);
    expect(recalled.said).toContain(ALL);
    expect(ordinary.said).toContain("recalled 0 of");
    const names = (paths: Set<string>) =>
      [...paths].map((path) => (path.startsWith("/") ? path : project.join(path)));
    const again = new Set(names(recalled.paths));
    expect(names(ordinary.paths).filter((path) => !again.has(path))).toEqual([]);
    expect(ordinary.paths.size).toBeGreaterThan(100);
  },
);
