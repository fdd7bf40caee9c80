// An uncacheable run leaves no cache entry, and one warning has the reason. The script itself runs unchanged.
import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { watchdogOf, waitUntil } from "../../support/processes.ts";
import { createProject } from "../../support/project.ts";
import { RT, runRt, startRt } from "../../support/rt.ts";
import { trustOf } from "../../support/trusted.ts";
import { CAN_TRACE, cachedCases, type CachedProject, cachedProject, mapCases } from "../cached-project.ts";

/** Scripts with their uncacheable reasons. */
const UNCACHEABLE: Readonly<Record<string, readonly [script: string, reason: RegExp]>> = {
  network: [
    "bash -c 'echo > /dev/tcp/127.0.0.1/9' 2> /dev/null || true",
    /it used the network \(bash, 127\.0\.0\.1:9\)/,
  ],
  "network by another address": [
    "bash -c 'echo > /dev/tcp/::1/9' 2> /dev/null || true",
    /it used the network \(bash, \[::1\]:9\)/,
  ],
  datagram: [
    `python3 -c 'import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))'`,
    /it used the network \(python3\S*, datagrams\)/,
  ],
  "a host that it looks up": [
    `RES_OPTIONS='timeout:1 attempts:1' python3 -c 'import socket; socket.getaddrinfo("rt-test.invalid", 443)' 2> /dev/null || true`,
    /it used the network \(python3\S*, rt-test\.invalid\)/,
  ],
  "a TCP server without a client in the script": [
    `python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()'`,
    /it used the network \(python3[^,]*\); .*if files alone decide its result, .*trace = false/,
  ],
  "a TCP connection to another program, beside one to the script's own server": [
    `python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); socket.socket().connect(s.getsockname()); socket.socket().connect_ex(("127.0.0.1", 9))'`,
    /it used the network \(python3\S*, 127\.0\.0\.1:9\)/,
  ],
  socket: [
    `python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).connect_ex(os.environ["HOME"] + "/s")'`,
    /over a socket \(.*\/s\); if files alone decide its result, .*trace = false/,
  ],
  rewritten: [
    "read x < counter; echo $((x + 1)) > counter",
    /it modified its own input \$PROJECT\/counter; .* ignore/,
  ],
  appended: ["echo more >> counter", /it modified its own input \$PROJECT\/counter/],
  permissions: ["chmod 600 counter", /it modified its own input \$PROJECT\/counter/],
  moved: [
    "cat counter > /dev/null; mv counter counter2; cp counter2 counter",
    /it modified its own input \$PROJECT\/counter/,
  ],
  outside: ["echo x > ../../../outside-$PPID; exit 0", /it wrote .*outside-\d+ outside the project/],
  survivor: ["sleep 1000 > /dev/null 2>&1 & echo $! > pid", /a background process was still running/],
  "a socket of another process without a file": [
    `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect_ex("\\0rt-test-absent")'`,
    /over a socket \(@rt-test-absent\)/,
  ],
  "a socket of another process, beside one that the script binds": [
    `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("own"); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect_ex("other")'; rm own`,
    /over a socket \(.*\/other\)/,
  ],
  privileged: ["su --version > /dev/null; true", /is setuid or setgid/],
  "set-group-ID": ["cp /bin/true tool && chmod 2755 tool && ./tool", /tool is setuid or setgid/],
  "set-user-ID": ["cp /bin/true tool && chmod 4755 tool && ./tool", /tool is setuid or setgid/],
  pipe: [
    "mkfifo fifo; (echo x > fifo) & read y < fifo; rm fifo; mkfifo fifo",
    /which is neither a file nor a symlink/,
  ],
};

const LEFT: number[] = [];
afterAll(() => {
  for (const pid of LEFT) process.kill(pid, "SIGKILL");
});

test.skipIf(!CAN_TRACE)(
  "a script that cannot be cached leaves no entry, and the reason is shown",
  async () => {
    await using project = await cachedCases(
      mapCases(UNCACHEABLE, ([script]) => ({
        script,
        files: { counter: "1\n", "a/one": "1", "a/b/two": "1" },
      })),
    );
    const env = { HOME: project.path };
    const noteSurvivor = async () => LEFT.push(Number(await Bun.file(project.at("survivor", "pid")).text()));
    const outcomes = await project.runAll(env);
    await noteSurvivor();
    expect(outcomes).toEqual(matching("t was not cached: "));
    expect((await project.rt(["cache"])).stdout).toStartWith("0 entries (");
    expect(await project.explainAll(env)).toEqual(matching("t: cache miss: the last run was not cached: "));
    await noteSurvivor();
  },
);

/** The reasons, after this text. */
function matching(start: string): Record<string, string> {
  return mapCases(
    UNCACHEABLE,
    ([, reason]) => expect.stringMatching(new RegExp(`^${start}.*(?:${reason.source})`)) as string,
  );
}

/** Python that binds a socket and connects to it, from the same process or another process of the script. */
const OWN_SOCKETS: Readonly<Record<string, string>> = {
  "with a file": `python3 -c '
import os, socket
server = socket.socket(socket.AF_UNIX); server.bind("own"); server.listen()
socket.socket(socket.AF_UNIX).connect("own"); os.unlink("own")'`,
  "without a file": `python3 -c '
import socket
server = socket.socket(socket.AF_UNIX); server.bind("\\0rt-test-bound"); server.listen()
socket.socket(socket.AF_UNIX).connect("\\0rt-test-bound")'`,
  "of another process of the script": `python3 -c '
import os, socket
server = socket.socket(socket.AF_UNIX); server.bind("own"); server.listen()
if os.fork() == 0:
  socket.socket(socket.AF_UNIX).connect("own"); os._exit(0)
os.wait(); os.unlink("own")'`,
  "over TCP, of another process of the script": `python3 -c '
import os, socket
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen()
if os.fork() == 0:
  socket.socket().connect(server.getsockname()); os._exit(0)
os.wait()'`,
  "over TCP, that listens on all addresses": `python3 -c '
import socket
server = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
socket.socket().connect(("127.0.0.1", server.getsockname()[1]))'`,
};

/** Python that binds the port of its first argument and connects to it. */
const SAME_PORT = `
import socket, sys
server = socket.socket(); server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
server.bind(("127.0.0.1", int(sys.argv[1]))); server.listen()
socket.socket().connect(server.getsockname())`;

test.skipIf(!CAN_TRACE)(
  "a script is not cached if another program listens on the port of its server",
  async () => {
    const address = { hostname: "127.0.0.1", port: 0, reusePort: true };
    await using other = Bun.serve({ ...address, fetch: () => new Response("other") });
    const { port } = other;
    await using project = await cachedProject(
      { t: `python3 same-port.py ${port}` },
      { "same-port.py": SAME_PORT },
    );
    const { stderr } = await project.rt(["run", "t"]);
    expect(stderr).toMatch(new RegExp(`it used the network \\(python3\\S*, 127\\.0\\.0\\.1:${port}\\)`));
  },
);

test.skipIf(!CAN_TRACE)("a script is cached when it connects to a socket that it bound itself", async () => {
  await using project = await cachedCases(mapCases(OWN_SOCKETS, (script) => ({ script })));
  expect(await project.runAll()).toEqual(mapCases(OWN_SOCKETS, () => "ran"));
  expect(await project.runAll()).toEqual(mapCases(OWN_SOCKETS, () => "hit"));
});

/** A script that appends to these files, like a tool with state. */
const appendTo = (files: readonly string[]) =>
  files
    .map((file) => `mkdir -p $(dirname ${file}) && echo x >> ${file} && cat ${file} > /dev/null`)
    .join(" && ");

/** The written files, their names in the warning, the outputs in the hint, and further commands of the script. */
type OwnFiles = readonly [files: readonly string[], named: string, outputs: string, more?: string];

const OWN_FILES: Readonly<Record<string, OwnFiles>> = {
  "a few files by name": [
    [".tool/app.info", ".tool/node.info"],
    ".tool/app.info, and 1 more",
    '[".tool/app.info", ".tool/node.info"]',
  ],
  "a name with glob characters": [[".tool/[id].info"], ".tool/[id].info", '[".tool/\\\\[id\\\\].info"]'],
  "many files by their folders": [
    [".next/a", ".next/b/c", ".next/b/d", "node_modules/.tmp/e"],
    ".next/a, and 3 more",
    '[".next/**", "node_modules/.tmp/**"]',
  ],
  "other outputs too, except for folders with sources": [
    [".tool/app.info"],
    ".tool/app.info",
    '[".tool/app.info", "dist/**"]',
    " && mkdir -p dist/a && cat src/a dist.source > dist/a/b && cat dist/old > dist/new && cat src/a > src/made",
  ],
};

test.skipIf(!CAN_TRACE)("the hint names modified files that git ignores, and helps", async () => {
  const ignored = [".tool", ".next", "node_modules", "dist", "src/made"];
  await using project = await cachedCases(
    mapCases(OWN_FILES, ([files, , , more = ""]) => ({
      script: appendTo(files) + more,
      files: {
        ...{ ".gitignore": ignored.join("\n"), "src/a": "", "dist.source": "", "dist/old": "" },
        ...Object.fromEntries(files.map((file) => [file, "of an earlier build\n"])),
      },
    })),
  );
  Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
  expect(await project.runAll()).toEqual(
    mapCases(
      OWN_FILES,
      ([, named, outputs]) =>
        `t was not cached: it modified its own input $PROJECT/${named}; ` +
        `if the old content is irrelevant, set its rule in [run.cache] to: t = { outputs = ${outputs} }`,
    ),
  );
  const rules = Object.values(OWN_FILES).map(
    ([, , outputs], index) => `"p${index}#t" = { outputs = ${outputs} }\n`,
  );
  await project.write({ "rtfig.toml": `[run.cache]\n${rules.join("")}` });
  expect(await project.runAll()).toEqual(mapCases(OWN_FILES, () => "ran"));
  expect(await project.runAll()).toEqual(mapCases(OWN_FILES, () => "hit"));
});

test.skipIf(!CAN_TRACE).each([
  ["a source beside the package", "../shared/src/x", "git does not ignore it, and a run that leaves it"],
  [
    "a file outside the project",
    "$OUTSIDE/x",
    'if the old content is irrelevant, set its rule in [run.cache] to: t = { ignore = ["$OUTSIDE/x"] }',
  ],
  [
    "a tool's file, if the script writes beside sources of another package",
    ".tool/x",
    'to: t = { outputs = [".tool/x"] }\n',
  ],
])("the hint does not suggest outputs that contain sources: %s", async (_, file, advice) => {
  await using outside = await createProject({ x: "" });
  const more = "cat ../shared/src/x > ../shared/src/made";
  const script = `${appendTo([file.replace("$OUTSIDE", outside.path)])} && ${more}`;
  const files = {
    "package.json": { name: "root", workspaces: ["packages/*"] },
    "packages/a/package.json": { name: "a", scripts: { t: script } },
    "packages/a/.tool/x": "",
    "packages/shared/src/x": "",
    ".gitignore": ".tool\nmade\n",
  };
  await using project = await cachedProject({}, files, "t = true");
  Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
  const env = { XDG_CACHE_HOME: project.cache };
  const { stderr } = await runRt({ args: ["run", "t"], cwd: project.join("packages/a"), env });
  expect(stderr).toContain("t was not cached: it modified its own input ");
  expect(stderr).toContain(advice.replace("$OUTSIDE", outside.path));
});

test.skipIf(!CAN_TRACE)(
  "a script with outputs in its rule leaves no file that it would have deleted",
  async () => {
    // Lists and empties the folder, and creates a file whose name is its input.
    const anew = "mkdir -p made && ls made > /dev/null && rm -rf made/* && cp in made/$(cat in)";
    const files = { in: "a", "made/old": "", ".gitignore": "made\n" };
    await using project = await cachedProject({ t: anew }, files, 't = { outputs = ["made/**"] }');
    Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
    for (const name of ["a", "b", "a"]) {
      await project.write({ in: name });
      expect(await project.run("t")).toBe("ran");
      expect(await readdir(project.join("made"))).toEqual([name]);
    }
    expect(await project.run("t")).toBe("hit");
  },
);

test.skipIf(!CAN_TRACE)(
  "a script that fixes sources is cached only when it fixes nothing, and no hint hides sources",
  async () => {
    const mend = "for f in a.txt .tool/x; do if grep -q ugly $f; then sed -i s/ugly/fair/ $f; fi; done";
    const files = { "a.txt": "ugly\n", ".tool/x": "ugly\n", ".gitignore": ".tool\n" };
    await using project = await cachedProject({ t: mend }, files);
    Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
    expect(await project.run("t")).toMatch(
      /^t was not cached: .*; git does not ignore it, and a run that leaves it unchanged is cached; /,
    );
    expect(await project.run("t")).toBe("ran");
    expect(await project.run("t")).toBe("hit");
  },
);

test.skipIf(!CAN_TRACE)(
  "a process that a script leaves running can still start programs and open files",
  async () => {
    // It waits until rt has exited, starts a program and reads a file.
    const wait = "while kill -0 $1 2> /dev/null; do sleep 0.05; done; cat counter > seen; mv seen done";
    await using project = await cachedProject(
      { t: "bash wait.sh $PPID > /dev/null 2>&1 &" },
      { counter: "1\n", "wait.sh": wait },
    );
    expect(await project.run("t")).toMatch(/a background process was still running/);
    await waitUntil(async () => (await readdir(project.path)).includes("done"));
    expect(await Bun.file(project.join("done")).text()).toBe("1\n");
  },
);

test.skipIf(!CAN_TRACE)(
  "a script gets only declared variables, and a warning names the others when it fails",
  async () => {
    await using project = await cachedProject(
      { t: 'echo $SEEN-$UNSEEN; test -n "$UNSEEN"' },
      {},
      't = { env = ["SEEN"] }',
    );
    const { stdout, stderr, status } = await project.rt(["run", "t"], { SEEN: "1", UNSEEN: "2", OTHER: "3" });
    expect({ stdout, status }).toEqual({ stdout: "1-\n", status: 1 });
    expect(stderr).toContain(
      'warning: t is cached, so it did not get UNSEEN; if it needs it, set its rule in [run.cache] to: t = { env = ["SEEN", "UNSEEN"] }',
    );
    expect((await project.rt(["--no-cache", "run", "t"], { UNSEEN: "2" })).stdout).toBe("-2\n");
  },
);

test.skipIf(!CAN_TRACE)(
  "a successful build gets a warning about withheld variables that it may use",
  async () => {
    const network = "bash -c 'echo > /dev/tcp/127.0.0.1/9' 2> /dev/null || true";
    await using project = await cachedProject(
      { makes: "echo $VITE_URL > out", looks: "cat in", given: "echo $VITE_URL > out", asks: network },
      { in: "1" },
      'makes = true\nlooks = true\nasks = true\ngiven = { env = ["VITE_*"] }',
    );
    const env = { VITE_URL: "http://x", VITE_B: "1", NEXT_TELEMETRY_DISABLED: "1", OTHER: "1" };
    const scripts = ["makes", "looks", "given", "asks"];
    const { stderr } = await project.rt(["--sequential", "run", ...scripts], env);
    expect(stderr.split("\n").filter((line) => line.includes("did not get"))).toEqual([
      "warning: makes is cached, so it did not get VITE_URL, VITE_B; " +
        'if it needs that, set its rule in [run.cache] to: makes = { env = ["VITE_*"] }',
      "warning: asks is cached, so it did not get NEXT_TELEMETRY_DISABLED; " +
        'if it needs that, set its rule in [run.cache] to: asks = { env = ["NEXT_TELEMETRY_DISABLED"] }',
    ]);
  },
);

test.skipIf(!CAN_TRACE)(
  "the hint about a listing that changed above the project names the folder to ignore",
  async () => {
    await using project = await cachedProject({
      t: "ls .. > seen; touch go; while test -e go; do sleep 0.05; done",
    });
    const ran = project.rt(["run", "t"]);
    await waitUntil(async () => existsSync(project.join("go")));
    const beside = `${project.path}-beside`;
    await Bun.write(beside, "");
    await rm(project.join("go"));
    const { stderr } = await ran;
    await rm(beside);
    const above = dirname(project.path);
    expect(stderr).toContain(
      `warning: t was not cached: another process added or removed files in ${above} during the run; ` +
        `run it again, or if these files are irrelevant, set its rule in [run.cache] to: t = { ignore = ["${above}/*"] }`,
    );
  },
);

test.skipIf(!CAN_TRACE)(
  "a failed run is not cached, and its exit code and signal are the script's",
  async () => {
    await using project = await cachedProject({ code: "exit 7", signal: "kill -TERM $$" });
    for (const _ of [1, 2]) {
      expect((await project.rt(["run", "code"])).status).toBe(7);
      expect((await project.rt(["run", "signal"])).status).toBe("SIGTERM");
    }
    expect((await project.rt(["cache"])).stdout).toStartWith("0 entries (");
  },
);

/** Returns the files of the cache that contain this text, compressed or not. */
async function cachedWith(project: CachedProject, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of new Bun.Glob("**").scanSync({ cwd: project.cache, dot: true })) {
    const bytes = await Bun.file(`${project.cache}/${path}`).bytes();
    const isCompressed = Buffer.from(bytes).subarray(0, 4).toString("hex") === "28b52ffd";
    const content = Buffer.from(isCompressed ? Bun.zstdDecompressSync(bytes) : bytes);
    if (content.includes(text)) found.push(path);
  }
  return found;
}

test.skipIf(!CAN_TRACE)(
  "a run that prints a secret is not cached, and the cache contains no value of a variable",
  async () => {
    await using project = await cachedProject(
      { loud: "echo $API_TOKEN", quiet: "test -n $API_TOKEN; echo written" },
      {},
      'loud = { env = ["API_TOKEN"] }\nquiet = { env = ["API_TOKEN"] }',
    );
    const env = { API_TOKEN: "abcdefgh12345" };
    expect(await project.run("loud", env)).toMatch(/it printed the secret API_TOKEN/);
    expect(await project.run("quiet", env)).toBe("ran");
    expect(await project.run("quiet", env)).toBe("hit");
    expect(await cachedWith(project, "written")).not.toEqual([]);
    expect(await cachedWith(project, env.API_TOKEN)).toEqual([]);
  },
);

test.skipIf(!CAN_TRACE)("a nested rt that cannot trace its script runs it once, uncached", async () => {
  await using project = await cachedProject(
    { outer: `env -u RT_TRACED ${RT} run inner`, nested: `${RT} run inner`, inner: "echo $0; cat file" },
    { file: "text" },
  );
  const outer = await project.rt(["run", "outer"]);
  expect(outer).toMatchObject({ stdout: expect.stringMatching(/^\S*sh\ntext$/), status: 0 });
  expect(outer.stderr).toContain("warning: inner was not cached: seccomp tracing is not permitted here");
  const nested = await project.rt(["run", "nested"]);
  expect(nested).toMatchObject({
    stdout: outer.stdout,
    stderr: expect.not.stringContaining("inner was not cached"),
  });
});

test.skipIf(!CAN_TRACE)(
  "scripts run uncached with one warning when the cache directory is unusable",
  async () => {
    await using project = await cachedProject({ a: "echo a", b: "echo b" });
    const { stdout, stderr, status } = await project.rt(["--sequential", "run", "a", "b"], {
      XDG_CACHE_HOME: "/proc/none",
    });
    expect({ stdout, status }).toEqual({ stdout: "a | a\nb | b\n", status: 0 });
    expect(stderr.match(/Scripts are not cached: /g)).toEqual(["Scripts are not cached: "]);
  },
);

test.skipIf(!CAN_TRACE)("a script runs on a full disk, and no partial entry is stored", async () => {
  await using project = await cachedProject({ t: "seq 9000", other: "true" });
  const full = async (kilobytes: number) =>
    await runRt({
      program: ["bash", "-c", `ulimit -f ${kilobytes}; exec "$0" "$@"`, RT],
      args: ["run", "t"],
      cwd: project.path,
      env: { XDG_CACHE_HOME: project.cache },
    });
  for (const [kilobytes, reason] of [
    [0, /Scripts are not cached: /],
    // The limit also applies to files in memory. The script's output exceeds it, rt's own data does not.
    [32, /t was not cached: cannot write to the cache: /],
  ] as const) {
    const { stdout, stderr, status } = await full(kilobytes);
    expect({ stdout, stderr, status }).toEqual({
      stdout: Array.from({ length: 9000 }, (_, index) => `${index + 1}\n`).join(""),
      stderr: expect.stringMatching(reason),
      status: 0,
    });
    expect([...new Bun.Glob("**/{drafts,keys,blobs}/**").scanSync(project.cache)]).toEqual([]);
    await project.run("other", { OTHER: "1" });
    await rm(`${project.cache}/rt/scripts-5/keys`, { recursive: true });
    await rm(`${project.cache}/rt/scripts-5/blobs`, { recursive: true });
  }
  expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
});

test.skipIf(!CAN_TRACE)("an rt that was killed leaves no partial entry and no process", async () => {
  const script = "test -e stop || { echo $$ > started; mv started pid; sleep 1000; }; cat data > out";
  await using project = await cachedProject(
    { t: script },
    { data: "1" },
    't = { ignore = ["started", "pid"] }',
  );
  const rt = startRt({ args: ["run", "t"], cwd: project.path, env: { XDG_CACHE_HOME: project.cache } });
  await waitUntil(async () => await Bun.file(project.join("pid")).exists());
  await watchdogOf(rt.pid, 1);
  rt.kill("SIGKILL");
  await rt.exited;
  const pid = (await Bun.file(project.join("pid")).text()).trim();
  await waitUntil(() => !existsSync(`/proc/${pid}/cwd`));
  await project.write({ stop: "" });
  expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
});

test.skipIf(!CAN_TRACE)("rt's internal options are unknown on the command line", async () => {
  await using project = await cachedProject({}, { "--launch.ts": "console.log('mine')" });
  const { stderr, status } = await project.rt(["--launch", "3", "/bin/true", "true"]);
  expect({ stderr, status }).toEqual({
    stderr: expect.stringContaining('Unknown option "--launch"'),
    status: 1,
  });
});

test.skipIf(!CAN_TRACE)("a script that receives secrets is never cached, alone or with others", async () => {
  const config =
    'secret = true\nplain = true\n[secrets.TOKEN]\nfrom.command = ["sh", "./value"]\n[run.secrets]\nsecret = ["TOKEN"]';
  await using project = await cachedProject(
    { secret: "echo got $TOKEN | tee out", plain: "echo plain" },
    { value: "printf value-of-the-secret" },
    config,
  );
  const env = { RT_TRUST: await trustOf(project.path) };
  for (const words of [
    ["run", "secret"],
    ["--sequential", "run", "secret", "plain"],
  ])
    for (const _ of [1, 2]) {
      const { stdout, stderr, status } = await project.rt(words, env);
      expect({ stdout, status }).toEqual({ stdout: expect.stringMatching(/got \[TOKEN\]\n/), status: 0 });
      expect(stderr).toContain("is not cached: it receives secrets");
    }
  expect((await project.rt(["cache"])).stdout).toStartWith("1 entry (");
  expect(await cachedWith(project, "plain")).not.toEqual([]);
  expect(await cachedWith(project, "value-of-the-secret")).toEqual([]);
  expect(await cachedWith(project, "[TOKEN]")).toEqual([]);
});

/** Runs in a namespace, so the setting does not affect other processes. */
const FORBID_PROGRAMS_IN_MEMORY = 'echo 2 > /proc/sys/vm/memfd_noexec && exec "$0" "$@"';

async function runWithoutLauncher(
  project: CachedProject,
  program: readonly string[],
  env = {},
): Promise<void> {
  const { stdout, stderr, status } = await runRt({
    program,
    args: ["run", "t"],
    cwd: project.path,
    env: { XDG_CACHE_HOME: project.cache, ...env },
  });
  expect({ stdout, status }).toEqual({ stdout: "text\n", status: 0 });
  expect(stderr).toContain("t was not cached: the system blocks executing memory files");
  expect((await project.rt(["cache"])).stdout).toStartWith("0 entries (");
}

const CAN_FORBID = CAN_TRACE && existsSync("/proc/sys/vm/memfd_noexec");
test.skipIf(!CAN_FORBID)(
  "a script runs uncached with a warning when the system forbids programs in memory",
  async () => {
    await using project = await cachedProject({ t: "echo text" });
    const inside = ["unshare", "-Urpf", "--mount-proc", "bash", "-c", FORBID_PROGRAMS_IN_MEMORY, RT];
    await runWithoutLauncher(project, inside);
  },
);

test.skipIf(!CAN_TRACE)(
  "a script runs uncached with a warning when a policy forbids to start a program from memory",
  async () => {
    await using project = await cachedProject({ t: "echo text" }, { "refuse.c": REFUSING_LIBRARY });
    const made = project.join("refuse.so");
    const compiled = Bun.spawnSync(["cc", "-shared", "-fPIC", "-o", made, project.join("refuse.c")]);
    expect(compiled.stderr.toString()).toBe("");
    await runWithoutLauncher(project, [RT], { LD_PRELOAD: made });
  },
);

/** Simulates a policy that refuses the start. */
const REFUSING_LIBRARY = `#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int execve(const char *program, char *const words[], char *const environment[]) {
  if (strncmp(program, "/proc/self/fd/", 14)) return syscall(SYS_execve, program, words, environment);
  errno = EACCES;
  return -1;
}
`;
