// Starts scripts from their memo (platform/native/linux/front/memo.h), and compares them with the same starts without the front.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../build/system-programs.ts";
import { createProject, type Project } from "../support/project.ts";
import { createRandom, type Random } from "../support/random.ts";
import { placeRt } from "../support/programs/programs.ts";
import { RT, runRt } from "../support/rt.ts";
import { age, memoStarts, type Start } from "./memo-starts.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../support/users.ts";

/** Prints what a script can find out about its process. */
const PROBE = [
  "tr '\\0' '\\n' < /proc/self/environ | grep -v ^RT_FRONT=",
  "tr '\\0' ' ' < /proc/$$/cmdline",
  "grep -E '^(Sig(Blk|Ign)|Seccomp|NoNewPrivs)' /proc/self/status",
  "cat /proc/self/limits",
  "pwd; umask",
  "cd /proc/$$/fd && exec stat -L -c '%n %F' * 2>/dev/null",
].join("; ");

const FILES = {
  "package.json": {
    name: "@scope/app",
    version: "1.2.3",
    config: { port: 80, "a=b": "c", nested: { list: [1, "é"] } },
    engines: { node: ">=18" },
    bin: "./x.js",
    scripts: {
      probe: PROBE,
      hello: "echo hello",
      "with space": 'echo "a  b" && false',
      colon: "exit 7",
      signal: "kill -TERM $$",
      tool: "own-tool a b",
      printenv: "printenv SHLVL PWD _",
      shim: "rt --version",
      long: `echo ${"x".repeat(40_000)}`,
      posthello2: "echo post",
      hello2: "echo 2",
      nul: "echo é\\u2028x",
    },
  },
  "node_modules/.bin/own-tool": '#!/bin/sh\necho "$0" "$@"\n',
  "in/deeper/x": "",
  "other/package.json": { scripts: { hello: "echo other" } },
};

let project: Project;

beforeAll(async () => {
  project = await createProject(FILES, ["node_modules/.bin/own-tool"]);
  mkdirSync(project.join("home"));
  await run({ args: ["shim"] }); // the run that creates the links to rt writes no memo
});

beforeEach(() => rmSync(project.join("home/.cache"), { recursive: true, force: true }));

afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

const { run, place, memos, mark, expectReplay, expectNoReplay } = memoStarts(() => project);

describe.skipIf(process.platform !== "linux")("a script is the same from its memo", () => {
  const WAYS: ReadonlyArray<readonly [string, Start]> = [
    ["with an ordinary environment", { args: ["run", "probe"], env: { SHLVL: "3", EMPTY: "", SECRET: "x" } }],
    ["without the word run", { args: ["probe"], env: { OLDPWD: "/usr" } }],
    ["from a folder below the package", { args: ["run", "probe"], cwd: "in/deeper" }],
    [
      "with inherited descriptors, ignored signals and a limit",
      {
        args: ["run", "probe"],
        by: "trap '' PIPE XFSZ INT HUP; exec 3</dev/null 7>/dev/null; ulimit -Sn 512",
      },
    ],
    [
      "with entries without a name or UTF-8",
      { args: ["run", "probe"], by: 'exec env "B=$(printf "\\\\351")" =x "$0" "$@"' },
    ],
    [
      "in a script",
      {
        args: ["run", "probe"],
        env: { RT_SCRIPTS: "outer in /x", npm_command: "old", NODE: "old", INIT_CWD: "/" },
      },
    ],
    ["with colours", { args: ["run", "hello"], env: { NO_COLOR: "1", FORCE_COLOR: "1" } }],
    ["whose text bash interprets", { args: ["run", "with space"] }],
    ["with an exit code", { args: ["run", "colon"] }],
    ["that a signal ends", { args: ["run", "signal"] }],
    ["that is a program of node_modules", { args: ["tool"] }],
    ["that starts without a shell", { args: ["printenv"], env: { SHLVL: "2" } }],
    ["that mentions rt", { args: ["shim"] }],
    ["with unusual characters", { args: ["run", "nul"] }],
  ];
  test.each(WAYS)("%s", async (_, start) => {
    await expectReplay(start);
  });

  test("a script starts from its memo without node on PATH, where the links to rt exist", async () => {
    const bin = project.join("bin");
    mkdirSync(bin, { recursive: true });
    for (const name of ["bash", "cat"]) symlinkSync(findProgram(name), join(bin, name));
    const start = { args: ["run", "hello"], env: { PATH: bin, TMPDIR: project.join("home") } };
    await run(start);
    rmSync(place(), { recursive: true, force: true });
    await expectReplay(start);
    // The link is made again.
    const links = project.join(
      "home",
      readdirSync(project.join("home")).find((name) => name.startsWith("rt-links"))!,
    );
    rmSync(links, { recursive: true });
    await expectNoReplay(start);
    expect(existsSync(links)).toBe(true);
  });

  test("a memo has the coloured line for a terminal", async () => {
    const line = `script -qec '"${RT}" run hello' /dev/null`;
    const show = async (RT_FRONT: string) =>
      await runRt({
        program: ["sh", "-c", line],
        cwd: project.path,
        env: { HOME: project.join("home"), TERM: "xterm", RT_FRONT },
      });
    await age();
    const first = await show("on");
    const file = join(place(), memos()[0]!);
    writeFileSync(file, readFileSync(file, "latin1").replaceAll("$\x1b[0m", "%\x1b[0m"), "latin1");
    const replayed = await show("on");
    expect(replayed.stdout).toContain("\x1b[0;35m%\x1b[0m");
    expect(replayed.stdout.replace("%", "$")).toBe(first.stdout);
  });

  test("a script starts from its memo without the engine", async () => {
    await age();
    await run({ args: ["hello"] });
    const trace = project.join("trace");
    const program = ["strace", "-f", "-o", trace, RT];
    const { stdout } = await runRt({
      program,
      args: ["hello"],
      cwd: project.path,
      env: { HOME: project.join("home") },
    });
    expect(stdout).toBe("hello\n");
    expect(readFileSync(trace, "utf8")).not.toMatch(/epoll|clone3/);
  });
});

describe.skipIf(process.platform !== "linux")("a memo does not count", () => {
  const scripts = (hello: string, more = {}) => ({
    "package.json": {
      ...FILES["package.json"],
      scripts: { ...FILES["package.json"].scripts, hello, ...more },
    },
  });
  const CHANGES: ReadonlyArray<readonly [string, () => unknown, string]> = [
    [
      "if the script has another text of the same length",
      () => project.write(scripts("echo HELLO")),
      "HELLO\n",
    ],
    [
      "if it has a hook",
      () => project.write(scripts("echo hello", { prehello: "echo before" })),
      "before\nhello\n",
    ],
    ["if it is gone", () => project.write({ "package.json": {} }), ""],
    [
      "if a package is nearer",
      () => project.write({ "in/package.json": { scripts: { hello: "echo nearer" } } }),
      "nearer\n",
    ],
    [
      "if the folder has an rtfig.toml",
      () => project.write({ "in/deeper/rtfig.toml": "# nothing\n" }),
      "hello\n",
    ],
    [
      "if the package has tasks",
      () =>
        project.write({
          "rtfig.toml": '[tasks.first]\ncommand = "echo first"\n[tasks.hello]\ndepends-on = ["first"]\n',
        }),
      "",
    ],
    [
      "if a shell is earlier on PATH",
      () => project.write({ "first/bash": "#!/bin/sh\necho own bash\n" }),
      "own bash\n",
    ],
  ];
  test.each(CHANGES)("%s", async (_, change, stdout) => {
    mkdirSync(project.join("first"), { recursive: true });
    const start = {
      args: ["run", "hello"],
      cwd: "in/deeper",
      env: { PATH: `${project.join("first")}:${process.env.PATH}` },
    };
    try {
      await expectReplay(start);
      await change();
      if (existsSync(project.join("first/bash"))) chmodSync(project.join("first/bash"), 0o755);
      const result = await expectNoReplay(start);
      if (stdout !== "") expect(result.stdout).toBe(stdout);
    } finally {
      for (const name of ["in/package.json", "in/deeper/rtfig.toml", "rtfig.toml", "first"])
        rmSync(project.join(name), { recursive: true, force: true });
      await project.write({ "package.json": FILES["package.json"] });
    }
  });

  test.each([
    ["variables", { args: ["run", "hello"], env: { FORCE_COLOR: "1" } }],
    ["PATH", { args: ["run", "hello"], env: { PATH: "/usr/bin:/bin" } }],
    ["words", { args: ["hello"] }],
    ["arguments", { args: ["run", "hello", "x"] }],
    ["options", { args: ["run", "--silent", "hello"] }],
    ["a folder", { args: ["run", "hello"], cwd: "other" }],
    ["a closed standard input", { args: ["run", "hello"], by: "exec <&-" }],
    ["a closed standard error", { args: ["run", "hello"], by: "exec 2>&-" }],
    ["the debugger", { args: ["run", "hello"], env: { BUN_INSPECT: "" } }],
  ] as ReadonlyArray<readonly [string, Start]>)("for other %s", async (_, start) => {
    await expectReplay({ args: ["run", "hello"] });
    await expectNoReplay(start);
  });

  test("process 1 stays in front of its script although there is a memo", async () => {
    const program = ["unshare", "--user", "--map-root-user", "--fork", "--kill-child", "--pid", RT];
    await project.write({ "first-process/package.json": { scripts: { hello: "echo $$" } } });
    await age();
    await run({ args: ["hello"], cwd: "first-process" });
    const HOME = project.join("home");
    const { stdout } = await runRt({
      program,
      args: ["hello"],
      cwd: project.join("first-process"),
      env: { HOME },
    });
    expect(stdout).not.toBe("1\n");
  });

  test("a memo of another file of rt at the same path does not count", async () => {
    const copy = project.join("rt");
    copyFileSync(RT, copy);
    await age();
    const start = async () =>
      await runRt({
        program: [copy],
        args: ["hello"],
        cwd: project.path,
        env: { HOME: project.join("home") },
      });
    await start();
    mark();
    expect((await start()).stderr).toBe("% echo hello\n");
    copyFileSync(RT, `${copy}.new`);
    renameSync(`${copy}.new`, copy);
    expect((await start()).stderr).toBe("$ echo hello\n");
  });

  const DAMAGES: ReadonlyArray<readonly [string, (file: string) => unknown]> = [
    ["that others can write to", (file) => chmodSync(file, 0o666)],
    ["in a folder that others can write to", () => chmodSync(place(), 0o777)],
    ["below a cache that others can write to", () => chmodSync(project.join("home/.cache"), 0o777)],
    ["in a home that others can write to", () => chmodSync(project.join("home"), 0o777)],
    [
      "that is a link",
      (file) => {
        renameSync(file, project.join("moved"));
        symlinkSync(project.join("moved"), file);
      },
    ],
    [
      "that is a folder",
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
    ["that is cut off", (file) => writeFileSync(file, readFileSync(file).subarray(0, -20))],
    [
      "that is cut off before its last NUL",
      (file) => writeFileSync(file, readFileSync(file).subarray(0, -1)),
    ],
    [
      "that has more behind it",
      (file) => writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from("x\0")])),
    ],
    ["that is empty", (file) => writeFileSync(file, "")],
    [
      "that is too long",
      (file) => writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.alloc(64 * 1024)])),
    ],
    [
      "of another start",
      (file) => writeFileSync(file, readFileSync(file, "latin1").replace("\0hello\0", "\0hellp\0"), "latin1"),
    ],
  ];
  test.each(DAMAGES)("%s", async (_, damage) => {
    await expectReplay({ args: ["run", "hello"] });
    damage(join(place(), memos()[0]!));
    try {
      const { stdout, stderr } = await run({ args: ["run", "hello"] });
      expect({ stdout, stderr }).toEqual({ stdout: "hello\n", stderr: "$ echo hello\n" });
      // No draft is left where the memo cannot be replaced.
      expect(memos()).toHaveLength(1);
    } finally {
      chmodSync(project.join("home"), 0o755);
      if (memos().length > 0) chmodSync(place(), 0o700);
    }
  });

  test("a memo in the home of another user does not count", async () => {
    if (process.getuid!() !== 0) return; // other users cannot give a folder away
    await expectReplay({ args: ["run", "hello"] });
    Bun.spawnSync(["chown", "65534", project.join("home")]);
    const { stderr } = await run({ args: ["run", "hello"] });
    Bun.spawnSync(["chown", "0", project.join("home")]);
    expect(stderr).toBe("$ echo hello\n");
  });
});

describe.skipIf(process.platform !== "linux")("no memo is written", () => {
  test.each([
    ["of arguments, which may be credentials", { args: ["run", "hello", "--token=x"] }],
    ["that is longer than the front reads", { args: ["run", "long"] }],
    ["of a script with a hook", { args: ["run", "hello2"] }],
    ["of a script that is missing", { args: ["run", "absent"] }],
    [
      "with functions of bash",
      { args: ["run", "hello"], env: { "BASH_FUNC_f%%": "() { echo; }", PATH: `.:${process.env.PATH}` } },
    ],
    ["without a home directory", { args: ["run", "hello"], env: { HOME: "relative" } }],
    [
      "in a home directory that is missing",
      { args: ["run", "hello"], env: { HOME: join(import.meta.dir, "absent") } },
    ],
    ["without the front", { args: ["run", "hello"], env: { RT_FRONT: "off" } }],
  ] as ReadonlyArray<readonly [string, Start]>)("%s", async (_, start) => {
    await age();
    await run(start);
    expect(memos()).toEqual([]);
    expect(existsSync(join(import.meta.dir, "absent"))).toBe(false);
    expect(existsSync(place())).toBe(false);
  });

  test("a script with permissions cannot write a memo", async () => {
    await age();
    await run({ args: ["run", "hello"] });
    const [name] = memos();
    await project.write({
      "other/package.json": { scripts: { write: `echo x > "$HOME/.cache/rt/starts-1/${name}"` } },
    });
    const before = readFileSync(join(place(), name!));
    const args = ["run", "--permissions", "write"];
    expect((await run({ args, cwd: "other" })).stderr).toContain("Permission denied");
    expect(readFileSync(join(place(), name!))).toEqual(before);
  });

  test("the group that can write to the cache prevents a memo, which the front would not read", async () => {
    mkdirSync(project.join("home/.cache"));
    chmodSync(project.join("home/.cache"), 0o775);
    await age();
    await run({ args: ["run", "hello"] });
    expect(memos()).toEqual([]);
  });

  test("a cache behind a symlink has memos", async () => {
    mkdirSync(project.join("home/elsewhere"), { mode: 0o700 });
    symlinkSync("elsewhere", project.join("home/.cache"));
    await expectReplay({ args: ["run", "hello"] });
  });

  test("a program and a folder of PATH that the user cannot read prevent no memo, which counts until they are open", async () => {
    const names = ["file/bash", "file/node", "folder/bash"];
    await using own = await createProject({
      "package.json": { scripts: { hello: "echo hello" } },
      ...Object.fromEntries(names.map((name) => [name, `#!/bin/sh\necho ${name}\n`])),
    });
    const [HOME, PATH] = [own.join("home"), `${own.join("folder")}:${own.join("file")}:/usr/bin:/bin`];
    const places = [["file/bash", "file/node", "folder"], ["file/bash"], ["folder", "folder/bash"]];
    const setModes = (index: number, mode: number) =>
      places[index]!.forEach((name) => chmodSync(own.join(name), mode));
    mkdirSync(HOME);
    if (isRoot) chownSync(HOME, OTHER_USER_ID, OTHER_USER_ID);
    await placeRt(own.join("rt"));
    const program = [...AS_OTHER_USER, own.join("rt")];
    const start = async () =>
      await runRt({ program, args: ["run", "hello"], cwd: own.path, env: { HOME, PATH, RT_FRONT: "on" } });
    chmodSync(own.path, 0o755);
    setModes(0, 0);
    await age();
    const { stdout } = await start();
    expect([stdout, readdirSync(join(HOME, ".cache/rt/starts-1")).length]).toEqual(["hello\n", 1]);
    setModes(1, 0o755);
    expect((await start()).stdout).toBe("file/bash\n");
    setModes(2, 0o755);
    expect((await start()).stdout).toBe("folder/bash\n");
  });

  test("other users can read neither a memo nor its folder", async () => {
    await age();
    await run({ args: ["run", "hello"] });
    expect(statSync(join(place(), memos()[0]!)).mode & 0o777).toBe(0o600);
    expect(statSync(place()).mode & 0o777).toBe(0o700);
  });
});

test.skipIf(process.platform !== "linux")(
  "rt test prints its hint as soon as there is a script of that name",
  async () => {
    const start = { args: ["test"], cwd: "tested" };
    await project.write({
      "tested/a.test.ts": 'import { test } from "bun:test"; test("one is one", () => {});',
      "tested/package.json": {},
    });
    await age();
    const hint = 'hint: this is rt\'s own "test"';
    expect((await run(start)).stderr).not.toContain(hint);
    expect(memos()).toHaveLength(1);
    const trace = project.join("trace");
    const env = { HOME: project.join("home") };
    await runRt({
      program: ["strace", "-f", "-e", "trace=execve", "-o", trace, RT],
      args: ["test"],
      cwd: project.join("tested"),
      env,
    });
    expect(readFileSync(trace, "utf8").match(/execve\(/g)).toHaveLength(1);
    await project.write({ "tested/package.json": { scripts: { test: "vitest" } } });
    expect((await run(start)).stderr).toContain(hint);
  },
);

const COUNT = 20_000;
/** RT_FUZZ=100000, as before a release, makes it 10 million memos. */
const ROUNDS = Math.max(1, Number(process.env.RT_FUZZ ?? 0) / 200);
const SEED = Number(process.env.RT_FUZZ_SEED ?? 103);
/** Milliseconds. */
const LIMIT = 300_000 * ROUNDS;
const SOURCE = join(import.meta.dir, "memo-program.c");

function compileProgram(command: readonly string[]): void {
  const flags = [
    "-O1",
    "-g",
    "-D_GNU_SOURCE",
    "-DPLAN",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-function",
  ];
  const { stderr } = Bun.spawnSync([...command, ...flags, "-fno-sanitize-recover=all", SOURCE]);
  expect(stderr.toString()).toBe("");
}

/** A row of a path, whose fingerprint is an error number. */
function absentRow(path: string): Buffer {
  const fingerprint = Buffer.alloc(13 * 4);
  fingerprint.writeUInt32LE(0x8000_0002, 0);
  return Buffer.concat([Buffer.from(`2${path}\0`), fingerprint]);
}

const text = (...texts: string[]) => Buffer.from(texts.map((each) => `${each}\0`).join(""));
const REPLAY = text(
  "$ x\n",
  "$ y\n",
  "/",
  "/bin/sh",
  "/bin/sh",
  "-c",
  "echo",
  "",
  "PATH=/a:/bin",
  "B=2",
  "C",
  "",
);
const RESTRICTED = text("pipes", "7", "1", "/tmp/rt-", "B", "LC_*", "", "h/root", "w\u0001/own", "");
const SEEDS = [
  Buffer.concat([absentRow("/absent/a"), absentRow("/absent/b"), text(""), REPLAY]),
  Buffer.concat([text(""), REPLAY]),
  text(""),
  Buffer.concat([absentRow("/absent/a"), text("")]),
  Buffer.concat([text(""), REPLAY, RESTRICTED]),
];

function mutate(memo: Buffer, { below }: Random): Buffer {
  let result = memo;
  for (let left = below(3); left >= 0; left -= 1) {
    const at = below(result.length + 1);
    const pieces = [
      Buffer.from([below(256)]),
      Buffer.alloc(0),
      Buffer.from([0]),
      result.subarray(at, at + below(60)),
      absentRow("/"),
    ];
    result = Buffer.concat([
      result.subarray(0, at),
      pieces[below(pieces.length)]!,
      result.subarray(at + below(3)),
    ]);
  }
  return result;
}

test.skipIf(process.platform !== "linux")(
  "the front reads nothing outside of a damaged memo",
  async () => {
    await using folder = await createProject();
    const program = folder.join("memo");
    compileProgram(["cc", "-fsanitize=address,undefined", "-o", program]);
    const start = (inputs: readonly Buffer[]) => {
      const stdin = Buffer.concat(
        inputs.flatMap((each) => [Buffer.from(Uint32Array.of(each.length).buffer), each]),
      );
      const { stdout, stderr, exitCode } = Bun.spawnSync([program], { stdin });
      expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
      return stdout.toString().split("\n");
    };
    // The program adds the last NUL.
    expect(start(SEEDS.map((seed) => seed.subarray(0, -1)))).toEqual([
      "script 12 /bin/sh -c echo A=1 PATH=/a:/bin B=2 C",
      "script 12 /bin/sh -c echo A=1 PATH=/a:/bin B=2 C",
      "none",
      "none",
      "script 12 /bin/sh -c echo PATH=/a:/bin B=2 C pipes 7 1 /tmp/rt- h/root w/tmp/rt-own/own",
      "",
    ]);
    for (let round = 0; round < ROUNDS; round += 1) {
      const random = createRandom(SEED + round);
      start(Array.from({ length: COUNT }, () => mutate(random.pick(SEEDS), random)));
    }
  },
  LIMIT,
);

// It needs clang, which only `npm run test:fuzz` installs.
if (process.env.RT_FUZZ)
  test(
    "libFuzzer finds no read outside of a memo",
    async () => {
      const seeds = SEEDS.map((seed, index) => [`corpus/${index}`, seed] as const);
      await using folder = await createProject(Object.fromEntries(seeds));
      const program = folder.join("fuzzer");
      compileProgram(["clang", "-DFUZZER", "-fsanitize=fuzzer,address,undefined", "-o", program]);
      const options = [`-runs=${COUNT * ROUNDS}`, "-max_len=2000", `-seed=${SEED}`, "corpus"];
      const { exitCode, stderr } = Bun.spawnSync([program, ...options], {
        cwd: folder.path,
        stdout: "ignore",
      });
      const end = stderr.toString().trimEnd().split("\n").at(-1);
      const done = `Done ${COUNT * ROUNDS} runs`;
      expect({ exitCode, end }).toMatchObject({ exitCode: 0, end: expect.stringContaining(done) });
    },
    LIMIT,
  );
