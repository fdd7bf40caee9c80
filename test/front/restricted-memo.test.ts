// Starts scripts with permissions from their memo: what stays the same, what is closed, and what is left after the end.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { closeDescriptor, openPipe } from "../../platform/native/posix/pipe.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject, type Files, type Project } from "../support/project.ts";
import { cleanEnvironment, type Environment, RT, runRt, type RtResult } from "../support/rt.ts";
import { age, memoStarts } from "./memo-starts.ts";

const IS_LINUX = process.platform === "linux";
const DEFAULT = "[permissions]\ndefault = true\n";
const HIDE = "sed -E 's#/tmp/..-[A-Za-z0-9]{6}(/|$)#/tmp/PRIVATE\\1#g'";

const FILES: Files = {
  "ws/rtfig.toml": DEFAULT,
  "ws/package.json": { name: "root", workspaces: ["packages/*"] },
  "ws/packages/b/package.json": { name: "b" },
  "ws/packages/a/package.json": {
    name: "a",
    scripts: {
      env: `env | grep -v ^RT_FRONT= | sort | ${HIDE}; cat /proc/$$/limits; pwd; umask`,
      descriptors: "cd /proc/$$/fd && exec stat -L -c '%n %F' 0 1 2 3 4 5 6 7 8 9 2>/dev/null; true",
      status:
        "test $(cut -d ' ' -f 6 /proc/$$/stat) = $PPID && echo in a session of its parent; " +
        "exec grep -E '^(Sig(Blk|Ign)|Seccomp:|NoNewPrivs|CapEff)' /proc/self/status",
      code: "exit 7",
      signal: "kill -TERM $$",
      closed: 'cat "$HOME/.secret"',
      write: 'echo x > "$HOME/written"',
      host: 'node -e \'require("net").connect(80, "192.0.2.1").on("error", (e) => console.log(e.code))\'',
      name: "getent hosts example.invalid",
      temporary: 'mkdir -p "$TMPDIR/a"; echo x > "$TMPDIR/a/b"; ln -s "$INIT_CWD" "$TMPDIR/link"',
      background: "sleep 600 & setsid sleep 600 & echo $! > left; true",
      waiting: "setsid sleep 600 & echo $! > left; echo ready; sleep 600",
      trapped: "trap 'echo got; exit 9' TERM INT; echo ready; sleep 600 & wait",
      npmrc: 'cat "$HOME"/.nvm/versions/node/*/etc/npmrc',
      others: "cat ../b/.env",
      hello: "echo hello",
      changing: `test -z "$LC_CHANGE" || sed -i 's/"unhooked"/"prechanging"/' package.json; exit 3`,
      unhooked: "true",
      failing: "echo ready; cat go; exit 3",
      prehooked: "true",
      hooked: "echo hooked",
    },
  },
};

let project: Project;
const { memos, mark } = memoStarts(() => project);

beforeAll(async () => {
  project = await createProject(FILES);
  for (const name of ["home/.nvm/versions/node/v1/etc", "tmp"])
    mkdirSync(project.join(name), { recursive: true });
  await project.write({ "home/.secret": "a secret\n" });
});

beforeEach(() => rmSync(project.join("home/.cache"), { recursive: true, force: true }));

afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

interface RestrictedStart {
  readonly name: string;
  readonly env?: Environment;
  readonly output?: string;
}

/** The engine's pipes are sockets, which have no replay. */
function startPiped({ name, env, output }: RestrictedStart) {
  const [out, error] = [openPipe({ isPolled: false }), openPipe({ isPolled: false })];
  const file = output === undefined ? undefined : openSync(output, "w");
  const child = Bun.spawn([RT, "run", name], {
    cwd: project.join("ws/packages/a"),
    env: cleanEnvironment({ HOME: project.join("home"), RT_FRONT: "on", ...ENV(), ...env }),
    stdin: "ignore",
    stdout: file ?? out.writer,
    stderr: error.writer,
  });
  for (const each of [out.writer, error.writer]) closeDescriptor(each);
  return { child, stdout: Bun.file(out.reader).stream(), stderr: Bun.file(error.reader).stream() };
}

async function run(request: RestrictedStart): Promise<RtResult> {
  const { child, stdout, stderr } = startPiped(request);
  const texts = await Promise.all([stdout, stderr].map((each) => new Response(each).text()));
  await child.exited;
  return { stdout: texts[0]!, stderr: texts[1]!, status: child.signalCode ?? child.exitCode! };
}

const ENV = () => ({ TMPDIR: project.join("tmp"), FORCE_COLOR: "0", OWN_TOKEN: "x", LC_ALL: "C" });

/** Refusals are reported at any time while the script runs. */
const comparable = ({ stderr, ...rest }: RtResult) => ({
  ...rest,
  stderr: stderr
    .replaceAll(/process \d+/g, "process N")
    .split("\n")
    .toSorted(),
});

async function expectReplay(name: string): Promise<RtResult> {
  await age();
  const first = await run({ name });
  expect(memos()).toHaveLength(1);
  mark();
  const replayed = await run({ name });
  expect(replayed.stderr).toContain("% ");
  const unmarked = { ...replayed, stderr: replayed.stderr.replace("% ", "$ ") };
  expect(comparable(unmarked)).toEqual(comparable(first));
  expect(temporary()).toEqual([]);
  return replayed;
}

/** Without the links to rt, which are kept. */
const temporary = () => readdirSync(project.join("tmp")).filter((name) => !name.startsWith("rt-links"));
const isRunning = (pid: string) => existsSync(`/proc/${pid.trim()}`);
const left = () => readFileSync(project.join("ws/packages/a/left"), "utf8");

describe.skipIf(!IS_LINUX)("a script with permissions is the same from its memo", () => {
  const SCRIPTS: ReadonlyArray<readonly [string, string, Partial<Record<"stdout" | "stderr", string>>]> = [
    ["its variables, folder and limits", "env", { stdout: "TMPDIR=" }],
    ["its descriptors", "descriptors", { stdout: "1 fifo" }],
    ["its session, signals and restrictions", "status", { stdout: "in a session of its parent" }],
    ["an exit code", "code", { stderr: "ran with permissions" }],
    ["a signal", "signal", { stderr: "ran with permissions" }],
    ["a closed file", "closed", { stderr: "Permission denied" }],
    ["a write to HOME", "write", { stderr: "Permission denied" }],
    ["a refused connection", "host", { stderr: "connects to 192.0.2.1:80; to allow it" }],
    ["a refused name", "name", { stderr: "looks up the host example.invalid" }],
    ["temporary files", "temporary", {}],
    ["background processes", "background", {}],
  ];
  test.each(SCRIPTS)("%s", async (_, name, shown) => {
    const replayed = await expectReplay(name);
    expect(replayed).toMatchObject(
      Object.fromEntries(Object.entries(shown).map(([key, text]) => [key, expect.stringContaining(text)])),
    );
    if (name === "background") expect(isRunning(left())).toBe(false);
    expect(existsSync(project.join("home/written"))).toBe(false);
  });

  test("a script with permissions starts from its memo without the engine", async () => {
    const trace = project.join("trace");
    const start = async () =>
      await runRt({
        program: ["sh", "-c", 'strace -f -o "$0" "$@" 2>/dev/null | cat', trace, RT],
        args: ["run", "hello"],
        cwd: project.join("ws/packages/a"),
        env: { HOME: project.join("home"), RT_FRONT: "on", ...ENV() },
      });
    await age();
    await start();
    expect(memos()).toHaveLength(1);
    expect((await start()).stdout).toBe("hello\n");
    expect(readFileSync(trace, "utf8")).not.toMatch(/epoll|clone3/);
  });

  test.each([
    ["SIGTERM", "trapped", true],
    ["SIGINT", "trapped", true],
    ["SIGHUP", "waiting", false],
    ["SIGKILL", "waiting", false],
  ] as const)("%s to rt ends %s", async (signal, name, isHandled) => {
    await age();
    const ends: unknown[] = [];
    for (const _ of [1, 2]) {
      const { child: rt, stdout } = startPiped({ name });
      const reader = stdout.getReader();
      let output = "";
      for (let isEnd = false; !isEnd;) {
        const { done, value } = await reader.read();
        output += value ? new TextDecoder().decode(value) : "";
        if (!done && output.endsWith("ready\n")) rt.kill(signal);
        isEnd = done;
      }
      await rt.exited;
      ends.push([output, rt.exitCode, rt.signalCode]);
      if (!isHandled) await waitUntil(() => !isRunning(left()));
      if (signal === "SIGKILL") rmSync(project.join("tmp"), { recursive: true });
      mkdirSync(project.join("tmp"), { recursive: true });
      expect(temporary()).toEqual([]);
    }
    expect(memos()).toHaveLength(1);
    expect(ends[1]).toEqual(ends[0]);
    expect(ends[0]).toEqual([isHandled ? "ready\ngot\n" : "ready\n", null, signal]);
  });
});

describe.skipIf(!IS_LINUX)("a credential that is written between two starts is closed", () => {
  test.each([
    [
      "in a version of Node.js",
      "npmrc",
      "home/.nvm/versions/node/v1/etc/npmrc",
      "//r.example/:_authToken=TOKEN\n",
    ],
    [
      "in another version of Node.js",
      "npmrc",
      "home/.nvm/versions/node/v2/etc/npmrc",
      "//r.example/:_authToken=TOKEN\n",
    ],
    ["in another package", "others", "ws/packages/b/.env", "TOKEN\n"],
    ["in a new package", "others", "ws/packages/b/.env.local", "TOKEN\n"],
  ])("%s", async (_, name, file, content) => {
    await project.write({
      "home/.nvm/versions/node/v1/etc/npmrc": "fund=false\n",
      "ws/packages/b/.env": "x\n",
    });
    await age();
    await run({ name });
    expect(memos()).toHaveLength(1);
    await project.write({ [file]: content });
    const { stdout, stderr } = await run({ name });
    rmSync(project.join(file));
    expect(stdout).not.toContain("TOKEN");
    expect(stderr).toContain("Permission denied");
  });

  test("a credential that git needs is reported at the next start", async () => {
    await age();
    await run({ name: "hello" });
    expect(memos()).toHaveLength(1);
    await project.write({ "ws/.git/config": '[remote "o"]\nurl = https://user:TOKEN@git.example/x\n' });
    const { stderr } = await run({ name: "hello" });
    rmSync(project.join("ws/.git"), { recursive: true });
    expect(stderr).toContain("tasks with permissions can read the credential in .git/config");
  });
});

test.skipIf(!IS_LINUX)("a script that has changed its own plan is an error", async () => {
  const file = "ws/packages/a/package.json";
  const content = readFileSync(project.join(file));
  await age();
  expect((await run({ name: "changing" })).status).toBe(3);
  mark();
  const { stderr, status } = await run({ name: "changing", env: { LC_CHANGE: "1" } });
  await project.write({ [file]: content });
  expect(stderr).toContain("% ");
  expect(stderr).toContain("error: The script was ended: the configuration has changed since it started");
  expect(status).toBe(1);
  expect(temporary()).toEqual([]);
});

test.skipIf(!IS_LINUX)("a script whose table has changed is not started again", async () => {
  const pipe = project.join("ws/packages/a/go");
  Bun.spawnSync(["mkfifo", pipe]);
  const release = () => Bun.spawn(["sh", "-c", ': > "$0"', pipe]);
  await age();
  release();
  await run({ name: "failing" });
  mark();
  const { child: rt, stdout, stderr } = startPiped({ name: "failing" });
  const reader = stdout.getReader();
  let output = "";
  while (!output.endsWith("ready\n")) output += new TextDecoder().decode((await reader.read()).value);
  await project.write({ "ws/rtfig.toml": `${DEFAULT}[tasks.failing.permissions]\nhosts = []\n` });
  release();
  const [text, rest] = [await new Response(stderr).text(), await reader.read()];
  await project.write({ "ws/rtfig.toml": DEFAULT });
  expect(text).toStartWith("% ");
  expect(text).toContain("The script was ended: the configuration has changed since it started");
  expect(rest.done).toBe(true);
  await rt.exited;
  expect(temporary()).toEqual([]);
});

test.skipIf(!IS_LINUX)("a memo in a project does not count, because its tasks could write it", async () => {
  await age();
  await run({ name: "hello" });
  mark();
  const start = async (cache: string) => {
    cpSync(project.join("home/.cache"), project.join(cache), { recursive: true });
    return (await run({ name: "hello", env: { XDG_CACHE_HOME: project.join(cache) } })).stderr;
  };
  expect(await start("elsewhere")).toStartWith("% ");
  expect(await start("ws/cache")).toStartWith("$ ");
  symlinkSync("ws", project.join("linked"));
  expect(await start("linked/cache")).toStartWith("$ ");
  rmSync(project.join("ws/cache"), { recursive: true });
  await run({ name: "hello", env: { XDG_CACHE_HOME: project.join("ws/cache") } });
  expect(existsSync(project.join("ws/cache/rt/starts-1"))).toBe(false);
});

describe.skipIf(!IS_LINUX)("no memo is written of a script with permissions", () => {
  test.each([
    ["with hosts of its own", "[tasks.hello.permissions]\nhosts = []\n", "hello", {}],
    ["that may write a folder", '[tasks.hello.permissions]\nwrite = ["out/**"]\n', "hello", {}],
    ["with a hook", DEFAULT, "hooked", {}],
    ["with a time limit", `${DEFAULT}[tasks.hello]\ntimeout = "9s"\n`, "hello", {}],
    ["beside cached tasks", `${DEFAULT}[tasks.env]\ncache = true\n`, "hello", {}],
    ["in another one", DEFAULT, "hello", { RT_PERMISSIONS: "1" }],
  ] as const)("%s", async (_, text, name, more) => {
    await project.write({ "ws/rtfig.toml": text });
    await age();
    const { stderr } = await run({ name, env: more });
    await project.write({ "ws/rtfig.toml": DEFAULT });
    expect(stderr).toContain("$ ");
    expect(memos()).toEqual([]);
  });

  test("a memo does not count if the output goes to a file", async () => {
    await age();
    await run({ name: "hello" });
    mark();
    const { stderr } = await run({ name: "hello", output: project.join("log") });
    expect(stderr).toStartWith("$ ");
    expect(readFileSync(project.join("log"), "utf8")).toBe("hello\n");
  });
});
