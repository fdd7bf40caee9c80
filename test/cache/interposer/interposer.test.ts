// A program with the interposer (platform/native/linux/interposer) has the same results and the same trace as one whose calls
// the kernel notifies. The program is node.c, compiled as "node".
import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { copyFile, mkdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RT } from "../../support/rt.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

const directory = mkdtempSync(join(tmpdir(), "rt-interposer-"));
const compiled = join(directory, "node");

beforeAll(() => {
  if (!CAN_TRACE) return;
  const words = [
    "cc",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-o",
    compiled,
    join(import.meta.dir, "node.c"),
    "-ldl",
    "-lpthread",
  ];
  const { exitCode, stderr } = Bun.spawnSync(words);
  expect({ exitCode, output: `${stderr}` }).toEqual({ exitCode: 0, output: "" });
});

afterAll(() => rmSync(directory, { recursive: true }));

/** Creates a project that runs the program with these arguments; $P is the project's path. */
async function interposed(words: string, rest = ""): Promise<CachedProject> {
  const program = (name: string) => `${rest}./tools/${name} ${words.replaceAll("$P", "$PWD")}`;
  const scripts = { t: program("node"), other: program("other"), plain: program("node") };
  const project = await cachedProject(scripts, { file: "file\n" }, 't = { ignore = ["fifo"] }\nother = true');
  await mkdir(project.join("tools"));
  for (const name of ["node", "other"]) await copyFile(compiled, project.join("tools", name));
  return project;
}

const FUNCTIONS = [
  ...["open", "open64", "openat", "openat64", "openat-link", "open-directory", "open-path"],
  ...["stat", "stat64", "lstat", "lstat64", "fstatat", "fstatat64", "fstatat-link"],
  ...["__xstat", "__xstat64", "__lxstat", "__lxstat64", "__fxstatat", "__fxstatat64"],
  ...["statx", "statx-link", "syscall", "access", "access-run"],
];

const PATHS = [
  ...["$P/file", "$P/tools", "$P/link", "$P/dangling", "$P/loop", "$P/absent", "$P/absent/x", "$P/file/x"],
  ...["$P/tools/", "$P/file/", "$P//tools/../file", "$P/tools/.", "file", "absent", "", ".", "/"],
  ...[`$P/${"x".repeat(300)}`, `$P/${"x/".repeat(2200)}`, "/proc/self/exe", "/dev/null", "/sys"],
];

test.skipIf(!CAN_TRACE)("each interposed function returns what the C library returns", async () => {
  const calls = FUNCTIONS.flatMap((name) => PATHS.map((path) => `"${name}:${path}"`));
  // Calls in a signal handler, in a child and beyond the log's capacity are compared as well.
  await using project = await interposed(`others interrupted many:70000 forked ${calls.join(" ")}`);
  await symlink("file", project.join("link"));
  await symlink("nowhere", project.join("dangling"));
  await symlink("loop", project.join("loop"));
  const followed = await project.rt(["run", "t"]);
  const plain = await project.rt(["run", "plain"]);
  expect(followed.stdout.split("\n")).toEqual(plain.stdout.split("\n"));
  expect(followed.stdout.split("\n").length).toBeGreaterThan(FUNCTIONS.length * PATHS.length);
  expect([followed.status, plain.status]).toEqual([0, 0]);
  expect(await project.run("t")).toBe("hit");
});

test.skipIf(!CAN_TRACE)(
  "the interposer is visible only in /proc/self/maps, and only in programs named node",
  async () => {
    const names =
      "open:/etc/ld.so.preload open:/rt-interposer.so open:/rt-interposer.log access:/rt-interposer.log";
    await using project = await interposed(`shows ${names}`);
    const shown = async (script: string) => (await project.rt(["run", script])).stdout;
    const absent = ["open", "open", "open", "access"].map((name) => `${name}: -1, error 2\n`).join("");
    expect(await shown("t")).toBe(`interposer: yes\n${absent}`);
    expect(await shown("plain")).toBe(`interposer: no\n${absent}`);
    expect(await shown("other")).toBe(`interposer: no\n${absent}`);
  },
);

test.skipIf(!CAN_TRACE)("Node.js gets the interposer, and its child processes do not", async () => {
  const count = "grep -c rt-interposer.so /proc/self/maps; env | grep -c LD_";
  const script = [
    'const isLoaded = require("fs").readFileSync("/proc/self/maps", "utf8").includes("rt-interposer");',
    `const { stdout } = require("child_process").spawnSync("sh", ["-c", "${count}"]);`,
    "console.log(isLoaded, String(stdout).trim());",
  ].join("\n");
  await using project = await cachedProject(
    { t: "./work.js" },
    { "work.js": `#!/usr/bin/env node\n${script}` },
  );
  await Bun.$`chmod +x ${project.join("work.js")}`;
  expect((await project.rt(["run", "t"])).stdout).toBe("true 0\n0\n");
});

test.skipIf(!CAN_TRACE)(
  "each program gets its own interposer, and rt leaves no descriptor of it open",
  async () => {
    const shows = "./tools/node shows";
    const left = "ls -l /proc/$PPID/fd | grep -c rt-interposer";
    await using project = await interposed("shows", `${shows}; ${shows}; ${left}; `);
    expect((await project.rt(["run", "t"])).stdout).toBe(
      "interposer: yes\ninterposer: yes\n0\ninterposer: yes\n",
    );
  },
);

/** Calls of each function, of a child, and beyond the log's capacity. */
const ABSENT: readonly (readonly [what: string, words: (path: string) => string])[] = [
  ...FUNCTIONS.map((name) => [name, (path: string) => `${name}:${path}`] as const),
  ["a call after more than the log has room for", (path) => `many:70000 stat:${path}`],
  ["a call of a child", (path) => `forked stat:${path}`],
];

test.skipIf(!CAN_TRACE).each(ABSENT)("a missing path is a dependency: %s", async (_what, words) => {
  await using project = await interposed(words("$P/absent"));
  expect(await project.run("t")).toBe("ran");
  expect(await project.run("t")).toBe("hit");
  await project.write({ absent: "" });
  expect(await project.run("t")).toBe("ran");
});

test.skipIf(!CAN_TRACE)("a run is not cached when a program uses its own symlink into /proc", async () => {
  await using project = await interposed("stat:$P/self/absent");
  await symlink("/proc/self/cwd", project.join("self"));
  expect(await project.run("t")).toContain("cannot read the memory of one of its processes");
});

const LONGEST = 207;

test.skipIf(!CAN_TRACE).each([-1, 0, 1, 2])(
  "a missing path of the maximum logged length plus %d is a dependency",
  async (more) => {
    await using project = await interposed('"stat:$(cat path)"');
    const name = "x".repeat(LONGEST + more - project.path.length - 1);
    await project.write({ path: project.join(name) });
    expect(await project.run("t")).toBe("ran");
    expect(await project.run("t")).toBe("hit");
    await project.write({ [name]: "" });
    expect(await project.run("t")).toBe("ran");
    expect(await project.run("t")).toBe("hit");
  },
);

test.skipIf(!CAN_TRACE).each(["open", "open64", "openat", "openat64"])(
  "a file that %s() opens is an input",
  async (name) => {
    await using project = await interposed(`${name}:$P/file`);
    expect(await project.run("t")).toBe("ran");
    expect(await project.run("t")).toBe("hit");
    await project.write({ file: "FILE\n" });
    expect(await project.run("t")).toBe("ran");
  },
);

/** Makes the C library stat its output before the calls of the test. */
const FIRST = "access:/";

test.skipIf(!CAN_TRACE).each(["writes", "changes"])(
  "a read is ordered before a later write that %s the file",
  async (name) => {
    await using project = await interposed(`${FIRST} later open:$P/file ${name}:$P/file`);
    expect(await project.run("t")).toContain("it modified its own input $PROJECT/file");
  },
);

test.skipIf(!CAN_TRACE)("a file that open() creates with O_CREAT is an output", async () => {
  await using project = await interposed("makes:$P/made");
  expect(await project.run("t")).toBe("ran");
  await rm(project.join("made"));
  expect(await project.run("t")).toBe("hit");
  expect(await Bun.file(project.join("made")).text()).toBe("");
});

test.skipIf(!CAN_TRACE)("a write is ordered before a later read", async () => {
  await using project = await interposed("writes:$P/made open:$P/made stat:$P/made");
  expect(await project.run("t")).toBe("ran");
  await rm(project.join("made"));
  expect(await project.run("t")).toBe("hit");
  expect(await Bun.file(project.join("made")).text()).toBe("written\n");
});

test.skipIf(!CAN_TRACE)(
  "a file that the script itself keeps writing is not reported as changed by another process",
  async () => {
    await using project = await interposed(`${FIRST} grows:$P/made`);
    expect(await project.run("t")).toBe("ran");
    await rm(project.join("made"));
    expect(await project.run("t")).toBe("hit");
    expect(await Bun.file(project.join("made")).text()).toBe("written\nmore\n");
  },
);

test.skipIf(!CAN_TRACE)("every call of concurrent threads is logged", async () => {
  const calls = 2500;
  await using project = await interposed(`crowd:${calls}`);
  const { stderr, status } = await project.rt(["run", "t"], { RT_DEBUG: "trace" });
  // Some of these calls are notified by the kernel instead.
  const traced = new Set(
    Array.from(stderr.matchAll(/^warning: trace \d+ \w+ (\/absent\/\d+\/\d+)$/gm), ([, path]) => path!),
  );
  const all = Array.from({ length: 8 * calls }, (_, each) => `/absent/${each % 8}/${Math.floor(each / 8)}`);
  expect([...traced].sort()).toEqual(all.sort());
  expect(status).toBe(0);
});

/** Runs the script up to `waits`, acts, and lets it continue. Returns stderr. */
async function runWithChange(project: CachedProject, act: () => unknown): Promise<string> {
  const fifo = project.join("fifo");
  await Bun.$`mkfifo ${fifo}`;
  const child = Bun.spawn([RT, "--force", "run", "t"], {
    cwd: project.path,
    env: { ...process.env, XDG_CACHE_HOME: project.cache, RT_DEBUG: "trace" },
    stdout: "pipe",
    stderr: "pipe",
  });
  let output = "";
  for await (const chunk of child.stdout) {
    output += new TextDecoder().decode(chunk);
    if (!output.includes("waits\n")) continue;
    output = "";
    await act();
    appendFileSync(fifo, "x"); // synchronously, so that no other callback runs in between
  }
  expect(await child.exited).toBe(0);
  await rm(fifo);
  return (await new Response(child.stderr).text()).replaceAll(project.path, "$PROJECT");
}

const OPENS_FIFO = "exec 7<> fifo; ";
/** No call is notified between these arguments and the end. */
const thenWait = (words: string) => `${FIRST} ${words} waits:7`;

type Change = (project: CachedProject) => Promise<unknown>;

const CHANGES: readonly (readonly [what: string, words: string, path: string, change: Change])[] = [
  ["an opened file", "open:$P/file", "file", (project) => project.write({ file: "FILE\n" })],
  ["a file with stat()", "stat:$P/file", "file", (project) => project.write({ file: "FILE\n" })],
  ["a file through syscall()", "syscall:$P/file", "file", (project) => project.write({ file: "FILE\n" })],
  ["an opened file that is deleted", "open:$P/file", "file", (project) => rm(project.join("file"))],
  ["a file with access() that is deleted", "access:$P/file", "file", (project) => rm(project.join("file"))],
  [
    "a missing file with stat() that is created",
    "stat:$P/absent",
    "absent",
    (project) => project.write({ absent: "" }),
  ],
  [
    "a missing file with access() that is created",
    "access:$P/absent",
    "absent",
    (project) => project.write({ absent: "" }),
  ],
  [
    "a file that is replaced by a directory",
    "lstat:$P/file",
    "file",
    async (project) => {
      await rm(project.join("file"));
      await mkdir(project.join("file"));
    },
  ],
  [
    "a file opened as a directory that is replaced by one",
    "open-directory:$P/file",
    "file",
    async (project) => {
      await rm(project.join("file"));
      await mkdir(project.join("file"));
    },
  ],
  [
    "a file that is replaced by a link",
    "lstat:$P/tools/other",
    "tools/other",
    async (project) => {
      await rm(project.join("tools/other"));
      await symlink("node", project.join("tools/other"));
    },
  ],
];

test.skipIf(!CAN_TRACE).each(CHANGES)(
  "a run is not cached when another process makes a change before rt observes the path: %s",
  async (_what, words, path, change) => {
    await using project = await interposed(thenWait(words), OPENS_FIFO);
    const output = await runWithChange(project, () => change(project));
    expect(output).toContain(
      `warning: t was not cached: another process changed $PROJECT/${path} during the run`,
    );
  },
);

test.skipIf(!CAN_TRACE)("a run is cached when no other process changes its inputs", async () => {
  const words = CHANGES.map(([, each]) => each).join(" ");
  await using project = await interposed(thenWait(words), OPENS_FIFO);
  expect(await runWithChange(project, async () => {})).not.toContain("not cached");
});

test.skipIf(!CAN_TRACE)(
  "a logged open of a file with a racy timestamp is probed by the recorder",
  async () => {
    await using project = await interposed(`${FIRST} waits:7 open:$P/file`, OPENS_FIFO);
    const fresh = await runWithChange(project, () => writeFileSync(project.join("file"), "FILE\n"));
    expect(fresh).toMatch(/trace \d+ probe \$PROJECT\/file\n/);
    const old = await runWithChange(project, async () => {});
    expect(old).toMatch(/trace \d+ open \$PROJECT\/file\n/);
    expect(old).not.toMatch(/trace \d+ probe \$PROJECT\/file\n/);
  },
);

test.skipIf(!CAN_TRACE)("a program that overwrites the log affects no other process", async () => {
  await using project = await interposed("stat:$P/absent scribbles stat:$P/file");
  const { stdout, status } = await project.rt(["run", "t"]);
  expect(stdout).toContain("scribbled\n");
  // Opening the mapping can be forbidden. If it is allowed, truncation must still fail.
  expect(stdout.replace("ftruncate: -1, error 1\n", "")).not.toContain("ftruncate");
  expect(status).toBe(0);
});

test.skipIf(!CAN_TRACE)("every call is notified by the kernel when the log cannot be created", async () => {
  await using project = await interposed("shows stat:$P/absent");
  const words = ["bash", "-c", 'ulimit -f 100; exec "$0" run t', RT];
  const run = () => {
    const env = { ...process.env, XDG_CACHE_HOME: project.cache };
    const { stdout, stderr } = Bun.spawnSync(words, { cwd: project.path, env });
    return { stdout: `${stdout}`, isHit: `${stderr}`.includes("Cached (saved ") };
  };
  const stdout = "interposer: yes\nstat: -1, error 2\n";
  expect(run()).toEqual({ stdout, isHit: false });
  expect(run()).toEqual({ stdout, isHit: true });
  await project.write({ absent: "" });
  expect(run().isHit).toBe(false);
});
