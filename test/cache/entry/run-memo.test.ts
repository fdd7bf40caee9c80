// A run is replayed from the run memo, without planning, if all stat fingerprints match the previous run. A missed input
// would cause a stale replay. Each test changes one input. Then the run replays nothing, or has the output of a run without the
// memo. The last test compares with strace which paths both validate.
import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
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
import { dirname, join } from "node:path";
import { TIMESTAMP_GRANULARITY } from "../../../platform/files/contract/stat-fingerprint.ts";
import { createProject, type Files } from "../../support/project.ts";
import { waitUntil } from "../../support/processes.ts";
import { cleanEnvironment, type Environment, RT, runRt } from "../../support/rt.ts";
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
 * The scripts of the first packages, each with another kind of input. Failures are silent: `cat` writes an error message in
 * several writes, and lines of other scripts can come between them.
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
  "mkdir -p dist; cat src/a ../../common | tee dist/out; echo $npm_package_version",
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

interface MemoProject extends CachedProject {
  readonly env: Environment;
  /** Returns the sorted output without times, and the number of memoized scripts. */
  build(words?: readonly string[], env?: Environment): Promise<{ output: string; recalled: string }>;
  /** Repeats the run until this number of scripts is memoized, so that the next run replays them. */
  settle(count?: number, env?: Environment): Promise<void>;
}

// All projects of this file use one cache path in turn, because the path is part of the dependencies. It starts as a copy of
// the first project's cache, so the scripts of the others are hits.
const folder = realpathSync(mkdtempSync(join(tmpdir(), "rt-recall-")));
const [CACHE, FILLED] = [join(folder, "cache"), join(folder, "filled")];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @param more overrides of files @param rules lines of [run.cache] */
async function memoProject(more: Files = {}, rules = ""): Promise<MemoProject> {
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
  const build: MemoProject["build"] = async (words = RUN, more = {}) => {
    const { stdout, stderr, status } = await project.rt(words, { ...env, ...more });
    const lines = stderr.split("\n");
    const recalled = lines.filter((line) => line.includes("recalled "));
    const others = lines.filter((line) => !/recalled |^Slowest: /.test(line) && line !== "");
    const output = [...stdout.split("\n").sort(), ...others.sort(), `${status}`].join("\n");
    return { output: output.replace(/\b[\d.]+ m?s\b/g, "TIME"), recalled: recalled.join() };
  };
  const memos = join(CACHE, "rt", STORE, "recalled");
  const countMemoized = () => {
    const names = existsSync(memos) ? readdirSync(memos) : [];
    const counts = names.map((name) => readFileSync(join(memos, name), "latin1").split('"used":').length - 1);
    return Math.max(0, ...counts);
  };
  const settle = async (count = COUNT, more: Environment = {}) => {
    // A run is memoized only after its entries were validated, and after racy timestamps have aged.
    let memoized = 0;
    for (let round = 0; round < MOST_ROUNDS && memoized !== count; round += 1) {
      await build(RUN, more);
      memoized = countMemoized();
    }
    expect(memoized).toBe(count);
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

const [MARKED, MARKED_CACHE] = [join(folder, "marked"), join(folder, "marked-cache")];
let marked: MemoProject | undefined;

/**
 * Returns a memoized project without other files and rules. Each is a copy of the first at the same path, in which all scripts
 * were hits once, so one run memoizes it.
 */
async function settledProject(): Promise<MemoProject> {
  if (marked) {
    swap(MARKED, marked.path);
    swap(MARKED_CACHE, CACHE);
  } else {
    marked = await memoProject();
    await marked.build();
    await marked.build();
    swap(marked.path, MARKED);
    swap(CACHE, MARKED_CACHE);
  }
  const copied = Date.now();
  await waitUntil(() => Date.now() > copied + TIMESTAMP_GRANULARITY);
  await marked.settle();
  return marked;
}

const STORE = "scripts-5";
const storeOf = (project: CachedProject) => join(project.cache, "rt", STORE);
const memosOf = (project: CachedProject) => join(storeOf(project), "recalled");

/** The files of the project, with mode and content. */
function treeOf(project: CachedProject): string[] {
  const paths = readdirSync(project.path, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name));
  return paths
    .filter((path) => !path.includes("log"))
    .sort()
    .map((path) => `${path} ${statSync(path).mode} ${Bun.hash(readFileSync(path))}`);
}

/** Copies a directory, so that the same path has new inodes. */
function swap(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

type Change = (project: MemoProject, sh: (line: string) => void) => void;

const sh =
  (line: string): Change =>
  (_, run) =>
    run(line);

const CHANGES: Readonly<Record<string, Change>> = {
  "a folder was replaced by a link": sh(
    "mv packages/p5/src moved; rm moved/b; ln -s ../../moved packages/p5/src",
  ),
  "a missing file was created": sh("touch flag"),
  "a script has changed": sh("sed -i 's/cat src/cat -n src/' packages/p11/package.json"),
  "a package has another version": sh("sed -i s/1.0.0/1.0.1/ packages/p0/package.json"),
  "a package has another name": sh("sed -i s/p10/q10/ packages/p10/package.json"),
  "the target of a linked package.json has changed": sh("sed -i s/1.0.0/1.0.2/ manifest"),
  "a package was added": sh("cp -r packages/p11 packages/p99; sed -i s/p11/p99/ packages/p99/package.json"),
  "a package was deleted": sh("rm -r packages/p11"),
  "the package.json of a package was deleted": sh("rm packages/p11/package.json"),
  "a package.json is invalid": sh("echo '{' > packages/p11/package.json"),
  "a package depends on another": sh(
    `sed -i 's/"name": "p10"/"name": "p10", "dependencies": {"p11": "*"}/' packages/p10/package.json`,
  ),
  "the workspace has other packages": sh("sed -i 's#packages/\\*#packages/p?#' package.json"),
  "the folder of a package was replaced by a link": sh("mv packages/p11 moved; ln -s ../moved packages/p11"),
  "another file lists packages": sh("printf 'packages: [packages/p1]\\n' > pnpm-workspace.yaml"),
  "a script is no longer cached": sh("echo '\"p11#build\" = false' >> rtfig.toml"),
  "a script has a rule with outputs": sh(
    'printf \'[run.cache."p0#build"]\\noutputs = ["dist/**"]\\n\' >> rtfig.toml',
  ),
  "no script is cached": sh("echo > rtfig.toml"),
  "a program has changed": sh("echo echo more >> bin/tool"),
  "a program is not executable": sh("chmod -x bin/tool"),
  "a program exists earlier in PATH": sh(
    "mkdir early; printf '#!/bin/sh\\necho early\\n' > early/tool; chmod +x early/tool",
  ),
  "a program exists in the package's node_modules": sh(
    "mkdir -p packages/p1/node_modules/.bin; cp bin/tool packages/p1/node_modules/.bin; echo echo own >> packages/p1/node_modules/.bin/tool",
  ),
  "a program exists in the workspace's node_modules": sh(
    "mkdir -p node_modules/.bin; cp bin/tool node_modules/.bin; echo echo own >> node_modules/.bin/tool",
  ),
  "the blobs in the store are damaged": (project, run) =>
    run(`cd ${storeOf(project)}/blobs; for f in */*; do echo x >> $f; done`),
  "the blobs in the store were deleted": (project, run) => run(`rm -r ${storeOf(project)}/blobs/*`),
  "all entries in the store were deleted": (project, run) => run(`rm -r ${storeOf(project)}/keys/*`),
  "the store is empty": (project, run) => run(`rm -r ${storeOf(project)}`),
  "the facts about scripts in the store were deleted": (project, run) =>
    run(`rm ${storeOf(project)}/scripts/*`),
};

/** A run that replays no script is itself a run without the run memo, so its output needs no comparison. */
const NOTHING = /^(?:recalled 0 of \d+ scripts)?$/;

test.skipIf(!CAN_TRACE).each(Object.entries(CHANGES))(
  "when %s, a run replays nothing from the run memo",
  async (_, change) => {
    await using project = await settledProject();
    change(project, (line) => changeBy(project, line));
    expect((await project.build()).recalled).toMatch(NOTHING);
  },
);

/** Changes of single scripts' inputs, with the packages concerned. A group has one change for each script, so all are made at once. */
const GROUPS: readonly Readonly<Record<string, readonly [packages: readonly string[], line: string]>>[] = [
  {
    "an output was deleted": [["p0", "p7"], "rm packages/p0/dist/out"],
    "a file has more bytes": [["p2"], "echo x >> packages/p2/src/a"],
    "an env file has changed": [["p3"], "echo A=2 > packages/p3/.env"],
    "a link has another target": [["p4"], "ln -sfn ../../../shared packages/p4/src/link"],
    "a listed folder has a new file": [["p5"], "echo > packages/p5/src/c"],
    "a file has other content of the same size and time": [
      ["p8"],
      "touch -r packages/p8/src/a $TMPDIR/t; printf 'A OF 8\\n' > packages/p8/src/a; touch -r $TMPDIR/t packages/p8/src/a",
    ],
    "a file was deleted": [["p9"], "rm packages/p9/src/a"],
    "an output has changed": [["p10"], "echo x >> packages/p10/dist/out"],
  },
  {
    "a file outside the packages has changed": [["p0", "p7"], "echo more >> shared"],
    "an env file was deleted": [["p3"], "rm packages/p3/.env"],
    "the target of a link has changed": [["p4"], "echo more >> target"],
    "a file was renamed": [["p5"], "mv packages/p5/src/b packages/p5/src/c"],
    "a file was replaced by a rename": [
      ["p8"],
      "cp -p packages/p8/src/a $TMPDIR/t; echo y >> $TMPDIR/t; mv $TMPDIR/t packages/p8/src/a",
    ],
    "a file that several scripts read has changed": [["p10", "p11"], "echo more >> common"],
  },
  {
    "an output folder was deleted": [["p0", "p7"], "rm -r packages/p0/dist"],
    "a file was replaced by a folder": [["p8"], "rm packages/p8/src/a; mkdir packages/p8/src/a"],
    "an output has other permissions": [["p10"], "chmod 600 packages/p10/dist/out"],
    "a file has other permissions": [["p11"], "chmod 600 packages/p11/src/a"],
  },
];

test.skipIf(!CAN_TRACE).each(GROUPS.map((group) => [Object.keys(group).join("; and "), group] as const))(
  "when %s, a run has the output of one without the run memo",
  async (_, group) => {
    await using project = await settledProject();
    for (const [, line] of Object.values(group)) changeBy(project, line);
    const affected = Object.values(group).flatMap(([packages]) => packages);
    await compareWithoutMemo(project, RUN, {}, `recalled ${COUNT - affected.length} of ${COUNT} scripts`);
  },
);

test.skipIf(!CAN_TRACE).each([
  ["was deleted", 'rm "$(ls */*.zst | head -1)"'],
  ["is damaged", 'echo >> "$(ls */*.zst | head -1)"'],
])("when an entry in the store %s, a run has the output of one without the run memo", async (_, line) => {
  await using project = await settledProject();
  changeBy(project, `cd ${storeOf(project)}/keys; ${line}`);
  await compareWithoutMemo(project, RUN, {}, `recalled ${COUNT - 1} of ${COUNT} scripts`);
});

function changeBy(project: MemoProject, line: string): void {
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-ec", line], { cwd: project.path });
  expect({ line, exitCode, output: `${stderr}` }).toEqual({ line, exitCode: 0, output: "" });
}

/**
 * Compares a run with the run memo to the same run without it, on equal files.
 *
 * @param expected how many scripts the first run replays; not all by default
 */
async function compareWithoutMemo(
  project: MemoProject,
  words: readonly string[] = RUN,
  env: Environment = {},
  expected: string = expect.not.stringContaining(ALL),
): Promise<void> {
  const [was, cache] = [`${project.path}.was`, `${project.cache}.was`];
  try {
    swap(project.path, was);
    swap(project.cache, cache);
    const { output, recalled } = await project.build(words, env);
    const tree = treeOf(project);
    swap(was, project.path);
    swap(cache, project.cache);
    if (existsSync(storeOf(project))) rmSync(memosOf(project), { recursive: true, force: true });
    const ordinary = await project.build(words, env);
    expect(recalled).toEqual(expected);
    expect(output).toBe(ordinary.output);
    expect(tree).toEqual(treeOf(project));
  } finally {
    for (const path of [was, cache]) rmSync(path, { recursive: true, force: true });
  }
}

/** Changes of a memo's file. Without a readable memo, the next run is planned. */
const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  "is truncated": (path) => writeFileSync(path, readFileSync(path).subarray(0, 999)),
  "is empty": (path) => writeFileSync(path, ""),
  "is in a folder that other users may write to": (path) => chmodSync(dirname(path), 0o777),
  "was replaced by a folder": (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  "has another byte": (path) => {
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(200) ^ 1, 200);
    writeFileSync(path, bytes);
  },
};

test.skipIf(!CAN_TRACE)("a run has the same output when its memo is damaged", async () => {
  await using project = await settledProject();
  const plain = await project.build();
  expect(plain.recalled).toBe(ALL);
  for (const [what, damage] of Object.entries(DAMAGES)) {
    const [name] = readdirSync(memosOf(project));
    damage(join(memosOf(project), name!));
    const { output, recalled } = await project.build();
    expect([what, output]).toEqual([what, plain.output]);
    expect([what, recalled]).toEqual([what, expect.not.stringContaining(ALL)]);
    rmSync(memosOf(project), { recursive: true });
    await project.settle();
  }
});

/** The run memo of a plain run covers none of these environments, arguments and directories. Runs that start scripts are last. */
const OTHER_RUNS: Readonly<Record<string, readonly [words: readonly string[], env: Environment]>> = {
  "an undeclared variable": [RUN, { UNKNOWN: "1" }],
  "a variable that sets the colours": [RUN, { FORCE_COLOR: "1" }],
  "another filter": [["--filter", "p?", "--filter", "p1*", "run", "build"], {}],
  "another directory": [["--cwd", "packages/p1", ...RUN], {}],
  "a concurrency limit": [["--concurrency", "1", ...RUN], {}],
  "a declared variable": [RUN, { LEVEL: "2" }],
  "an argument": [[...RUN, "src/b"], {}],
  "--no-cache": [["--no-cache", ...RUN], {}],
};

test.skipIf(!CAN_TRACE)("a run does not use the run memo of one with other settings", async () => {
  await using project = await settledProject();
  for (const [what, [words, env]] of Object.entries(OTHER_RUNS))
    expect([what, (await project.build(words, env)).recalled]).toEqual([
      what,
      what === "--no-cache" ? "" : `recalled 0 of ${COUNT} scripts`,
    ]);
});

test.skipIf(!CAN_TRACE)(
  "a run after one change replays all other scripts, and the changed one after it has run",
  async () => {
    await using project = await settledProject();
    const before = (await project.build()).output;
    writeFileSync(project.join("packages/p11/src/a"), "another\n");
    const { output, recalled } = await project.build();
    expect(recalled).toBe(`recalled ${COUNT - 1} of ${COUNT} scripts`);
    expect(output).toContain("p11 build: another");
    expect(output.split("Cached (saved").length).toBe(before.split("Cached (saved").length - 1);
    await project.settle();
    expect((await project.build()).output.replace("another", "a of 11")).toBe(before);
  },
);

test.skipIf(!CAN_TRACE)(
  "a script that depends on a running script is validated after that script has ended",
  async () => {
    await using project = await settledProject();
    // p7 depends on p0 and reads its output.
    writeFileSync(project.join("packages/p0/src/a"), "another\n");
    expect((await project.build()).output).toContain("p7 build: another");
  },
);

/** p10 is not cached, and runs a command if the file `now` exists. p11 depends on p10. */
async function changingProject(line: string): Promise<MemoProject> {
  const manifest = (name: string, build: string, dependencies = {}) => ({
    ...{ name, version: "1.0.0", scripts: { build }, dependencies },
  });
  return await memoProject(
    {
      "packages/p10/package.json": manifest("p10", `if test -e now; then ${line}; fi`),
      "packages/p11/package.json": manifest("p11", "cat src/a; echo is $npm_package_version", { p10: "*" }),
    },
    '"p10#build" = false',
  );
}

test.skipIf(!CAN_TRACE)("a script runs as planned, whatever an earlier script has changed", async () => {
  await using project = await changingProject("sed -i s/1.0.0/3.0.0/ ../p11/package.json");
  await project.settle(COUNT - 1);
  writeFileSync(project.join("packages/p10/now"), "");
  writeFileSync(project.join("packages/p11/src/a"), "another\n");
  await compareWithoutMemo(project);
  expect(readFileSync(project.join("packages/p11/package.json"), "utf8")).toContain("3.0.0");
});

test.skipIf(!CAN_TRACE)(
  "a run is not memoized when a script has changed an input after its validation",
  async () => {
    await using project = await changingProject("echo new >> ../../shared");
    await project.settle(COUNT - 1);
    const words = ["--concurrency", "1", ...RUN];
    // The second run is memoized.
    await project.build(words);
    writeFileSync(project.join("packages/p10/now"), "");
    // p0 is validated before p10 runs.
    expect((await project.build(words)).output).toContain("p0 build: made 1.0.0");
    await project.build(words);
    expect(readFileSync(project.join("packages/p0/dist/out"), "utf8")).toBe("a of 0\nshared\nnew\n");
  },
);

test.skipIf(!CAN_TRACE)("the globs of a rule are evaluated in each run", async () => {
  await using project = await memoProject(
    { "packages/p8/more/a.txt": "" },
    '"p8#build" = { inputs = ["more/*.txt"] }\n"p9#build" = { inputs = ["src/b"] }',
  );
  await project.settle(COUNT - 1);
  writeFileSync(project.join("packages/p8/more/b.txt"), "");
  await compareWithoutMemo(project);
  await project.settle(COUNT - 1);
  writeFileSync(project.join("packages/p9/src/b"), "another\n");
  await compareWithoutMemo(project);
});

test.skipIf(!CAN_TRACE).each([
  ["pnpm-workspace.yaml has changed", "packages: [packages/p?]\n"],
  ["pnpm-workspace.yaml is empty", ""],
])("when %s, a run has the output of one without the run memo", async (_, text) => {
  await using project = await memoProject({
    "package.json": { name: "root" },
    "pnpm-workspace.yaml": "packages: ['packages/*']\n",
  });
  await project.settle();
  writeFileSync(project.join("pnpm-workspace.yaml"), text);
  await compareWithoutMemo(project);
});

test.skipIf(!CAN_TRACE)("an edited file of --env-file makes the scripts run again", async () => {
  await using project = await memoProject({ "own.env": "LEVEL=2\n" });
  const words = ["--env-file", "own.env", ...RUN];
  const env = { LEVEL: undefined };
  for (let round = 0; round < 3; round += 1)
    expect((await project.build(words, env)).output).toContain("p2 build: level 2");
  writeFileSync(project.join("own.env"), "LEVEL=3\n");
  expect((await project.build(words, env)).output).toContain("p2 build: level 3");
});

/** Time limit in ms of a test with many runs. */
const LONG = 300_000;

/** Options and settings that the run memo does not cover. */
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

test.skipIf(!CAN_TRACE)(
  "an option that the run memo does not cover bypasses it",
  async () => {
    // Two packages are enough, because the number of recalled scripts is printed for each run that asks the run memo.
    await using project = await cachedProject(
      {},
      {
        "package.json": { name: "root", workspaces: ["packages/*"] },
        "packages/p0/package.json": { name: "p0", scripts: { build: "echo $LEVEL" } },
        "packages/p1/package.json": { name: "p1", scripts: { build: "echo p1" } },
        "own.env": "LEVEL=2\n",
      },
      "build = true",
    );
    const recalled = async (words: readonly string[], env: Environment = {}) => {
      const { stderr } = await project.rt(words, { RT_DEBUG: "recall", ...env });
      return stderr.split("\n").filter((line) => line.includes("recalled "));
    };
    const git = (...words: string[]) => Bun.spawnSync(["git", ...words], { cwd: project.path, env: GIT });
    for (const words of [
      ["init", "-q"],
      ["add", "."],
      ["commit", "-qm", "one"],
    ])
      git(...words);
    expect(await recalled(RUN)).toEqual(["recalled 0 of 2 scripts"]);
    for (const [what, [words, env]] of Object.entries(UNCOVERED))
      expect([what, await recalled([...words, ...RUN], env)]).toEqual([what, []]);
    const lines =
      '[secrets.PASSWORD]\nfrom.command = ["echo", "a-value-of-some-length"]\n[run.secrets]\n"p1#build" = ["PASSWORD"]\n';
    writeFileSync(project.join("rtfig.toml"), `${readFileSync(project.join("rtfig.toml"), "utf8")}${lines}`);
    expect(await recalled(RUN, { RT_TRUST: await trustOf(project.path) })).toEqual([]);
  },
  LONG,
);

test.skipIf(!CAN_TRACE)("a run whose plan has warnings is planned each time", async () => {
  await using project = await memoProject({
    "package.json": { name: "root", workspaces: ["packages/*", "absent"] },
  });
  for (let round = 0; round < 3; round += 1) await project.build();
  const { output, recalled } = await project.build();
  expect(output).toContain("the workspace lists it, but it does not exist");
  expect(recalled).toBe(`recalled 0 of ${COUNT} scripts`);
});

test.skipIf(!CAN_TRACE)(
  "hits of entries that were not used for long are planned once, which updates their time of use",
  async () => {
    await using project = await settledProject();
    const path = join(memosOf(project), readdirSync(memosOf(project))[0]!);
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
  "the run memo contains no value of a variable, and only its user may read it",
  async () => {
    await using project = await memoProject();
    const env = { LEVEL: "the-level", UNKNOWN: "a-secret-value" };
    await project.settle(COUNT, env);
    const names = readdirSync(memosOf(project));
    expect(names).toHaveLength(1);
    const path = join(memosOf(project), names[0]!);
    expect(readFileSync(path, "latin1")).not.toMatch(/the-level|a-secret-value/);
    expect([statSync(path).mode & 0o777, statSync(memosOf(project)).mode & 0o777]).toEqual([0o600, 0o700]);
  },
);

/** The size of a file with a digest and no body, in bytes. */
const EMPTY = 65;

test.skipIf(!CAN_TRACE)("a run is memoized only when it is repeated", async () => {
  await using project = await settledProject();
  await project.build(RUN, { UNKNOWN: "once" });
  const sizes = readdirSync(memosOf(project)).map((name) => statSync(join(memosOf(project), name)).size);
  expect(sizes.map((size) => size > EMPTY).sort()).toEqual([false, true]);
});

test.skipIf(!CAN_TRACE)("a script whose replayed output has other colours is not memoized", async () => {
  const build = String.raw`printf "${"${FORCE_COLOR:+\\033[1m}"}bold of p11\n"`;
  await using project = await memoProject({
    "packages/p11/package.json": { name: "p11", version: "1.0.0", scripts: { build } },
  });
  // No entry has this value.
  const plain = { LEVEL: "colour", FORCE_COLOR: undefined, NO_COLOR: undefined };
  const { output } = await project.build(RUN, { ...plain, FORCE_COLOR: "1" });
  expect(output).toContain("\u001b[1mbold of p11");
  await project.settle(COUNT - 1, plain);
  const replayed = await project.build(RUN, plain);
  expect(replayed.output).toContain("bold of p11");
  expect(replayed.output).not.toContain("\u001b[1mbold");
});

test.skipIf(!CAN_TRACE)(
  "a run is validated again when HOME is a link that leads to another folder",
  async () => {
    await using homes = await createProject({ "ada/rc": "rc of ada\n", "bob/rc": "rc of bob\n" });
    symlinkSync("ada", homes.join("link"));
    await using project = await memoProject({
      "packages/p11/package.json": { name: "p11", version: "1.0.0", scripts: { build: "cat ~/rc" } },
    });
    // The result is recorded without the link, so the link is not among its dependencies.
    await project.build(RUN, { LEVEL: "home", HOME: homes.join("ada") });
    const env = { LEVEL: "home", HOME: homes.join("link") };
    await project.settle(COUNT, env);
    rmSync(homes.join("link"));
    symlinkSync("bob", homes.join("link"));
    expect((await project.build(RUN, env)).output).toContain("rc of bob");
  },
);

test.skipIf(!CAN_TRACE)(
  "a task that runs beside replayed hits has its permissions and variables",
  async () => {
    const count = 10;
    const all: Files = {
      outside: "open\n",
      "ws/package.json": { name: "root", workspaces: ["packages/*"] },
      "ws/rtfig.toml": '[tasks.build]\ncache = true\npermissions = true\nenv = ["LEVEL"]\n',
    };
    for (let index = 0; index < count; index += 1) {
      const build = 'cat a; cat ../../../outside 2>/dev/null || echo "closed $LEVEL"';
      all[`ws/packages/p${index}/package.json`] = { name: `p${index}`, scripts: { build } };
      all[`ws/packages/p${index}/a`] = "a\n";
    }
    await using project = await createProject(all);
    const build = async (cache = "cache") => {
      const env = {
        HOME: project.path,
        XDG_CACHE_HOME: project.join(cache),
        RT_DEBUG: "recall",
        LEVEL: "1",
      };
      const { stdout, stderr } = await runRt({ args: RUN, cwd: project.join("ws"), env });
      return `${stdout}\n${stderr}`;
    };
    let rounds = 0;
    while (!(await build()).includes(`recalled ${count} of ${count}`))
      expect(++rounds).toBeLessThan(MOST_ROUNDS);
    await project.write({ "ws/packages/p3/a": "b\n" });
    const output = await build();
    expect(output).toContain(`recalled ${count - 1} of ${count}`);
    expect(output).toContain("p3 build: b\np3 build: closed 1\n");
    expect(output).not.toContain("open");
    // A task could write a memo in its project.
    expect(await build("ws/cache")).not.toContain("recalled");
  },
);

test.skipIf(!CAN_TRACE)("the newest eight run memos are kept", async () => {
  await using project = await settledProject();
  for (let number = 0; number < 8; number += 1) await project.build(RUN, { UNKNOWN: `${number}` });
  expect(readdirSync(memosOf(project))).toHaveLength(8);
  await project.build(RUN, { UNKNOWN: "7" });
  expect((await project.build(RUN, { UNKNOWN: "7" })).recalled).toBe(ALL);
});

const SHOWN = /^\d+ +(\w+)\((?:AT_FDCWD, |\d+, )?"((?:[^"\\]|\\.)*)"/;
/** Paths that the kernel provides, that rt reads at its start, or that contain memoized data. Only their stat fingerprints are inputs. */
const NOT_INPUTS =
  /^\/(?:proc|dev|sys)\/|\/scripts-5\/(?:blobs|hashes|known|recalled|presence|drafts|secret)\b/;

/** The paths that rt itself opens, stats or lists. */
async function pathsOf(project: MemoProject): Promise<{ paths: Set<string>; output: string }> {
  const log = `${project.cache}.log`;
  const words = ["strace", "-f", "-s", "4096", "-o", log, "-e", "trace=%file,getdents64", RT, ...RUN];
  const env = cleanEnvironment(project.env);
  const ran = Bun.spawn(words, { cwd: project.path, env, stdout: "ignore", stderr: "pipe" });
  const output = await new Response(ran.stderr).text();
  const paths = new Set<string>();
  for (const line of (await Bun.file(log).text()).split("\n")) {
    const path = SHOWN.exec(line)?.[2];
    if (path !== undefined && !NOT_INPUTS.test(path)) paths.add(path.replace(/\/$/, ""));
  }
  rmSync(log);
  return { paths, output };
}

test.skipIf(process.platform !== "linux")(
  "the run memo validates every path that strace shows for a run without it",
  async () => {
    await using project = await memoProject();
    let recalled = await pathsOf(project);
    for (let round = 0; round < MOST_ROUNDS && !recalled.output.includes(ALL); round += 1)
      recalled = await pathsOf(project);
    rmSync(memosOf(project), { recursive: true });
    const ordinary = await pathsOf(project);
    expect(recalled.output).toContain(ALL);
    expect(ordinary.output).toContain("recalled 0 of");
    const names = (paths: Set<string>) =>
      [...paths].map((path) => (path.startsWith("/") ? path : project.join(path)));
    const again = new Set(names(recalled.paths));
    expect(names(ordinary.paths).filter((path) => !again.has(path))).toEqual([]);
    expect(ordinary.paths.size).toBeGreaterThan(100);
  },
);
