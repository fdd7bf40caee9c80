// What a program that tells rt of its calls itself (platform/native/linux/interposer) finds, and what rt makes of it: the same as of one
// that the kernel asks about, at the edges of that too. The program is node.c beside this, called node.
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
  expect({ exitCode, said: `${stderr}` }).toEqual({ exitCode: 0, said: "" });
});

afterAll(() => rmSync(directory, { recursive: true }));

/** Runs the program with these words, in which $P is the project. */
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

test.skipIf(!CAN_TRACE)("each function does what the C library's does", async () => {
  const calls = FUNCTIONS.flatMap((name) => PATHS.map((path) => `"${name}:${path}"`));
  // What a handler, a child or a crowd of calls finds is compared as well.
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

test.skipIf(!CAN_TRACE)("nothing shows of it but what is loaded, and only where it is worth it", async () => {
  const names =
    "open:/etc/ld.so.preload open:/rt-interposer.so open:/rt-interposer.log access:/rt-interposer.log";
  await using project = await interposed(`shows ${names}`);
  const shown = async (script: string) => (await project.rt(["run", script])).stdout;
  const absent = ["open", "open", "open", "access"].map((name) => `${name}: -1, error 2\n`).join("");
  expect(await shown("t")).toBe(`interposer: yes\n${absent}`);
  expect(await shown("plain")).toBe(`interposer: no\n${absent}`);
  expect(await shown("other")).toBe(`interposer: no\n${absent}`);
});

test.skipIf(!CAN_TRACE)("Node.js has it, and what it starts has not", async () => {
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
  "each program that is started has one, and nothing of it stays open in rt",
  async () => {
    const shows = "./tools/node shows";
    const left = "ls -l /proc/$PPID/fd | grep -c rt-interposer";
    await using project = await interposed("shows", `${shows}; ${shows}; ${left}; `);
    expect((await project.rt(["run", "t"])).stdout).toBe(
      "interposer: yes\ninterposer: yes\n0\ninterposer: yes\n",
    );
  },
);

/** What was told counts, whichever function it was, up to the edge of what fits in the log, and behind it. */
const ABSENT: readonly (readonly [what: string, words: (path: string) => string])[] = [
  ...FUNCTIONS.map((name) => [name, (path: string) => `${name}:${path}`] as const),
  ["a call after more than the log has room for", (path) => `many:70000 stat:${path}`],
  ["one of a child", (path) => `forked stat:${path}`],
];

test.skipIf(!CAN_TRACE).each(ABSENT)("what is not there counts: %s", async (_what, words) => {
  await using project = await interposed(words("$P/absent"));
  expect(await project.run("t")).toBe("ran");
  expect(await project.run("t")).toBe("hit");
  await project.write({ absent: "" });
  expect(await project.run("t")).toBe("ran");
});

test.skipIf(!CAN_TRACE)("what a program finds by a link of its own into /proc is in doubt", async () => {
  await using project = await interposed("stat:$P/self/absent");
  await symlink("/proc/self/cwd", project.join("self"));
  expect(await project.run("t")).toContain("one of its programs does not let itself be looked at");
});

const LONGEST = 207;

test.skipIf(!CAN_TRACE).each([-1, 0, 1, 2])("so does a path of the longest length, and %d", async (more) => {
  await using project = await interposed('"stat:$(cat path)"');
  const name = "x".repeat(LONGEST + more - project.path.length - 1);
  await project.write({ path: project.join(name) });
  expect(await project.run("t")).toBe("ran");
  expect(await project.run("t")).toBe("hit");
  await project.write({ [name]: "" });
  expect(await project.run("t")).toBe("ran");
  expect(await project.run("t")).toBe("hit");
});

test.skipIf(!CAN_TRACE).each(["open", "open64", "openat", "openat64"])("%s reads", async (name) => {
  await using project = await interposed(`${name}:$P/file`);
  expect(await project.run("t")).toBe("ran");
  expect(await project.run("t")).toBe("hit");
  await project.write({ file: "FILE\n" });
  expect(await project.run("t")).toBe("ran");
});

/** Makes the C library ask for what its output is. What follows asks for nothing besides what it says. */
const FIRST = "access:/";

test.skipIf(!CAN_TRACE).each(["writes", "changes"])(
  "what is read comes before what %s after it",
  async (name) => {
    await using project = await interposed(`${FIRST} later open:$P/file ${name}:$P/file`);
    expect(await project.run("t")).toContain("it read and then changed $PROJECT/file");
  },
);

test.skipIf(!CAN_TRACE)("what open() makes is made", async () => {
  await using project = await interposed("makes:$P/made");
  expect(await project.run("t")).toBe("ran");
  await rm(project.join("made"));
  expect(await project.run("t")).toBe("hit");
  expect(await Bun.file(project.join("made")).text()).toBe("");
});

test.skipIf(!CAN_TRACE)("what is written comes before what is read after it", async () => {
  await using project = await interposed("writes:$P/made open:$P/made stat:$P/made");
  expect(await project.run("t")).toBe("ran");
  await rm(project.join("made"));
  expect(await project.run("t")).toBe("hit");
  expect(await Bun.file(project.join("made")).text()).toBe("written\n");
});

test.skipIf(!CAN_TRACE)(
  "what the script itself goes on writing is not changed by something else",
  async () => {
    await using project = await interposed(`${FIRST} grows:$P/made`);
    expect(await project.run("t")).toBe("ran");
    await rm(project.join("made"));
    expect(await project.run("t")).toBe("hit");
    expect(await Bun.file(project.join("made")).text()).toBe("written\nmore\n");
  },
);

test.skipIf(!CAN_TRACE)("of threads that all call at once each call is told", async () => {
  const calls = 2500;
  await using project = await interposed(`crowd:${calls}`);
  const { stderr, status } = await project.rt(["run", "t"], { RT_DEBUG: "trace" });
  // About some of them rt is asked as well.
  const told = new Set(
    Array.from(stderr.matchAll(/^warning: trace \d+ \w+ (\/absent\/\d+\/\d+)$/gm), ([, path]) => path!),
  );
  const all = Array.from({ length: 8 * calls }, (_, each) => `/absent/${each % 8}/${Math.floor(each / 8)}`);
  expect([...told].sort()).toEqual(all.sort());
  expect(status).toBe(0);
});

/** Runs it up to `waits`, does something meanwhile, and lets it go on. Returns what it said of it. */
async function meanwhile(project: CachedProject, act: () => unknown): Promise<string> {
  const fifo = project.join("fifo");
  await Bun.$`mkfifo ${fifo}`;
  const child = Bun.spawn([RT, "--force", "run", "t"], {
    cwd: project.path,
    env: { ...process.env, XDG_CACHE_HOME: project.cache, RT_DEBUG: "trace" },
    stdout: "pipe",
    stderr: "pipe",
  });
  let said = "";
  for await (const chunk of child.stdout) {
    said += new TextDecoder().decode(chunk);
    if (!said.includes("waits\n")) continue;
    said = "";
    await act();
    appendFileSync(fifo, "x"); // without a turn of the loop: it is seen at once
  }
  expect(await child.exited).toBe(0);
  await rm(fifo);
  return (await new Response(child.stderr).text()).replaceAll(project.path, "$PROJECT");
}

const OPENS_FIFO = "exec 7<> fifo; ";
/** After the words nothing is asked until it is over. */
const waiting = (words: string) => `${FIRST} ${words} waits:7`;

type Change = (project: CachedProject) => Promise<unknown>;

const CHANGES: readonly (readonly [what: string, words: string, path: string, change: Change])[] = [
  ["a file read", "open:$P/file", "file", (project) => project.write({ file: "FILE\n" })],
  ["a file looked at", "stat:$P/file", "file", (project) => project.write({ file: "FILE\n" })],
  ["a file by its number", "syscall:$P/file", "file", (project) => project.write({ file: "FILE\n" })],
  ["a file that goes", "open:$P/file", "file", (project) => rm(project.join("file"))],
  ["a file that goes, asked for", "access:$P/file", "file", (project) => rm(project.join("file"))],
  ["a file that comes", "stat:$P/absent", "absent", (project) => project.write({ absent: "" })],
  ["a file that comes, asked for", "access:$P/absent", "absent", (project) => project.write({ absent: "" })],
  [
    "a directory in its place",
    "lstat:$P/file",
    "file",
    async (project) => {
      await rm(project.join("file"));
      await mkdir(project.join("file"));
    },
  ],
  [
    "a directory in the place of what is none",
    "open-directory:$P/file",
    "file",
    async (project) => {
      await rm(project.join("file"));
      await mkdir(project.join("file"));
    },
  ],
  [
    "a link in its place",
    "lstat:$P/tools/other",
    "tools/other",
    async (project) => {
      await rm(project.join("tools/other"));
      await symlink("node", project.join("tools/other"));
    },
  ],
];

test.skipIf(!CAN_TRACE).each(CHANGES)(
  "is not kept where something else changes it before rt has looked: %s",
  async (_what, words, path, change) => {
    await using project = await interposed(waiting(words), OPENS_FIFO);
    const said = await meanwhile(project, () => change(project));
    expect(said).toContain(
      `warning: t was not cached: $PROJECT/${path} was changed while it ran, by something else`,
    );
  },
);

test.skipIf(!CAN_TRACE)("is kept where nothing does", async () => {
  const words = CHANGES.map(([, each]) => each).join(" ");
  await using project = await interposed(waiting(words), OPENS_FIFO);
  expect(await meanwhile(project, async () => {})).not.toContain("not cached");
});

test.skipIf(!CAN_TRACE)("of a file that was written this very moment rt is asked to look", async () => {
  await using project = await interposed(`${FIRST} waits:7 open:$P/file`, OPENS_FIFO);
  const fresh = await meanwhile(project, () => writeFileSync(project.join("file"), "FILE\n"));
  expect(fresh).toMatch(/trace \d+ probe \$PROJECT\/file\n/);
  const old = await meanwhile(project, async () => {});
  expect(old).toMatch(/trace \d+ open \$PROJECT\/file\n/);
  expect(old).not.toMatch(/trace \d+ probe \$PROJECT\/file\n/);
});

test.skipIf(!CAN_TRACE)("a program that writes nonsense where the log is harms nobody else", async () => {
  await using project = await interposed("stat:$P/absent scribbles stat:$P/file");
  const { stdout, status } = await project.rt(["run", "t"]);
  expect(stdout).toContain("scribbled\n");
  // Not everybody may open what is mapped; who may cannot make it smaller.
  expect(stdout.replace("ftruncate: -1, error 1\n", "")).not.toContain("ftruncate");
  expect(status).toBe(0);
});

test.skipIf(!CAN_TRACE)("where there is no room for a log, rt is asked about each call", async () => {
  await using project = await interposed("shows stat:$P/absent");
  const words = ["bash", "-c", 'ulimit -f 100; exec "$0" run t', RT];
  const run = () => {
    const env = { ...process.env, XDG_CACHE_HOME: project.cache };
    const { stdout, stderr } = Bun.spawnSync(words, { cwd: project.path, env });
    return { stdout: `${stdout}`, isHit: `${stderr}`.includes("Done before: ") };
  };
  const stdout = "interposer: yes\nstat: -1, error 2\n";
  expect(run()).toEqual({ stdout, isHit: false });
  expect(run()).toEqual({ stdout, isHit: true });
  await project.write({ absent: "" });
  expect(run().isHit).toBe(false);
});
