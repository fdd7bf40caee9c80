// In doubt nothing is kept: the script runs as ever, and one line says why.
import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { guardianOf, waitUntil } from "../support/processes.ts";
import { RT, runRt, startRt } from "../support/rt.ts";
import { trustOf } from "../support/trusted.ts";
import { CAN_TRACE, cachedProject } from "./cached-project.ts";

/** Scripts, and what is said of each. */
const DOUBTS: Readonly<Record<string, readonly [script: string, said: RegExp]>> = {
  network: [
    `node -e 'require("net").connect(9, "127.0.0.1").on("error", () => {})'`,
    /it used the network \(node, 127\.0\.0\.1:9\)/,
  ],
  "network by another address": [
    `node -e 'require("net").connect(9, "::1").on("error", () => {})'`,
    /it used the network \(node, \[::1\]:9\)/,
  ],
  datagram: [
    `node -e 'const s = require("dgram").createSocket("udp4"); s.send("x", 9, "127.0.0.1", () => s.close())'`,
    /it used the network \(node, datagrams\)/,
  ],
  socket: [
    'node -e \'require("net").connect(process.env.HOME + "/s").on("error", () => {})\'',
    /over a socket \(.*\/s\)/,
  ],
  rewritten: [
    "read x < counter; echo $((x + 1)) > counter",
    /it read \$PROJECT\/counter and then changed it; .* ignore/,
  ],
  "rewritten, several": [
    "mkdir -p a/b; cat a/one a/b/two > /dev/null; echo 2 > a/one; echo 2 > a/b/two",
    /it read \$PROJECT\/a\/\S+ and 1 more in \$PROJECT\/a and then changed it/,
  ],
  appended: ["echo more >> counter", /it read \$PROJECT\/counter and then changed it/],
  permissions: ["chmod 600 counter", /it read \$PROJECT\/counter and then changed it/],
  moved: [
    "cat counter > /dev/null; mv counter counter2; cp counter2 counter",
    /it read \$PROJECT\/counter and then/,
  ],
  outside: ["echo x > ../outside-$PPID; exit 0", /it wrote .*outside-\d+, outside the project/],
  survivor: ["sleep 1000 > /dev/null 2>&1 & echo $! > pid", /it left a program running/],
  privileged: ["su --version > /dev/null; true", /needs the rights of another user/],
  pipe: [
    "mkfifo fifo; (echo x > fifo) & read y < fifo; rm fifo; mkfifo fifo",
    /which is neither a file nor a link/,
  ],
};

const LEFT: number[] = [];
afterAll(() => {
  for (const pid of LEFT) process.kill(pid, "SIGKILL");
});

test.skipIf(!CAN_TRACE).each(Object.entries(DOUBTS))("not cached: %s", async (name, [script, said]) => {
  await using project = await cachedProject({ t: script }, { counter: "1\n", "a/one": "1", "a/b/two": "1" });
  const result = await project.run("t", { HOME: project.path });
  if (name === "survivor") LEFT.push(Number(await Bun.file(project.join("pid")).text()));
  expect(result).toMatch(said);
  expect(result).toStartWith("t was not cached: ");
  expect((await project.rt(["cache"])).stdout).toStartWith("0 runs in ");
  await project.rt(["--why", "run", "t"], { HOME: project.path }).then(async ({ stderr }) => {
    const [why] = stderr.replaceAll(project.path, "$PROJECT").split("\n");
    expect(why).toMatch(said);
    expect(why).toStartWith("t runs: its last run was not kept: ");
    if (name === "survivor") LEFT.push(Number(await Bun.file(project.join("pid")).text()));
  });
});

test.skipIf(!CAN_TRACE)("what a script leaves running goes on opening files", async () => {
  // It waits until rt has gone, and then starts a program and reads a file.
  const wait = "while kill -0 $1 2> /dev/null; do sleep 0.02; done; cat counter > seen; mv seen done";
  await using project = await cachedProject(
    { t: "bash wait.sh $PPID > /dev/null 2>&1 &" },
    { counter: "1\n", "wait.sh": wait },
  );
  expect(await project.run("t")).toMatch(/it left a program running/);
  await waitUntil(async () => (await readdir(project.path)).includes("done"));
  expect(await Bun.file(project.join("done")).text()).toBe("1\n");
});

test.skipIf(!CAN_TRACE)(
  "a script gets the variables that are declared, and is told of others when it fails",
  async () => {
    await using project = await cachedProject(
      { t: 'echo $SEEN-$UNSEEN; test -n "$UNSEEN"' },
      {},
      't = { env = ["SEEN"] }',
    );
    const { stdout, stderr, status } = await project.rt(["run", "t"], { SEEN: "1", UNSEEN: "2", OTHER: "3" });
    expect({ stdout, status }).toEqual({ stdout: "1-\n", status: 1 });
    expect(stderr).toContain(
      'warn: t is cached, so it was not given UNSEEN; if it needs one, declare it: env = ["NAME"]',
    );
    expect((await project.rt(["--no-cache", "run", "t"], { UNSEEN: "2" })).stdout).toBe("-2\n");
  },
);

test.skipIf(!CAN_TRACE)("what a build goes without in silence is named", async () => {
  const network = `node -e 'require("net").connect(9, "127.0.0.1").on("error", () => {})'`;
  await using project = await cachedProject(
    { makes: "echo $VITE_URL > out", looks: "cat in", given: "echo $VITE_URL > out", asks: network },
    { in: "1" },
    'makes = true\nlooks = true\nasks = true\ngiven = { env = ["VITE_*"] }',
  );
  const env = { VITE_URL: "http://x", VITE_B: "1", NEXT_TELEMETRY_DISABLED: "1", OTHER: "1" };
  const warnings = async (script: string) => {
    const { stderr } = await project.rt(["run", script], env);
    return stderr.split("\n").filter((line) => line.includes("was not given"));
  };
  expect(await warnings("makes")).toEqual([
    "warn: makes is cached, so it was not given VITE_URL, VITE_B; " +
      'if it needs that, declare it: env = ["VITE_*"] in [run.cache]',
  ]);
  expect(await warnings("looks")).toEqual([]);
  expect(await warnings("given")).toEqual([]);
  expect(await warnings("asks")).toEqual([
    "warn: asks is cached, so it was not given NEXT_TELEMETRY_DISABLED; " +
      'if it needs that, declare it: env = ["NEXT_TELEMETRY_DISABLED"] in [run.cache]',
  ]);
});

test.skipIf(!CAN_TRACE)("names that come and go above a project: what helps is said, and helps", async () => {
  await using project = await cachedProject({
    t: "ls .. > seen; touch go; while test -e go; do sleep 0.02; done",
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
    `warn: t was not cached: in ${above}, which it listed, something else made or removed a file while it ran; ` +
      `run it again, or where it does not matter what is there: ignore = ["${above}/*"] in [run.cache]`,
  );
});

test.skipIf(!CAN_TRACE)("a failure is never kept, and its code and signal are the script's", async () => {
  await using project = await cachedProject({ code: "exit 7", signal: "kill -TERM $$" });
  for (const _ of [1, 2]) {
    expect((await project.rt(["run", "code"])).status).toBe(7);
    expect((await project.rt(["run", "signal"])).status).toBe("SIGTERM");
  }
  expect((await project.rt(["cache"])).stdout).toStartWith("0 runs in ");
});

test.skipIf(!CAN_TRACE)("a secret that is printed is not kept, and no value is in the cache", async () => {
  await using project = await cachedProject(
    { loud: "echo $API_TOKEN", quiet: "test -n $API_TOKEN" },
    {},
    'loud = { env = ["API_TOKEN"] }\nquiet = { env = ["API_TOKEN"] }',
  );
  const env = { API_TOKEN: "abcdefgh12345" };
  expect(await project.run("loud", env)).toMatch(/it printed the value of API_TOKEN/);
  expect(await project.run("quiet", env)).toBe("ran");
  expect(await project.run("quiet", env)).toBe("hit");
  const { stdout } = await project.rt(["cache"]);
  const grep = Bun.spawnSync(["grep", "-r", "abcdefgh12345", / in (\/.*)\n/.exec(stdout)![1]!]);
  expect(grep.stdout.toString()).toBe("");
});

test.skipIf(!CAN_TRACE)("where another one follows already, it runs as ever, once", async () => {
  await using project = await cachedProject(
    { outer: `env -u RT_TRACED ${RT} run inner`, nested: `${RT} run inner`, inner: "echo $0; cat file" },
    { file: "text" },
  );
  const outer = await project.rt(["run", "outer"]);
  expect(outer).toMatchObject({ stdout: expect.stringMatching(/^\S*sh\ntext$/), status: 0 });
  expect(outer.stderr).toContain("warn: inner was not cached: the system does not let rt follow it");
  const nested = await project.rt(["run", "nested"]);
  expect(nested).toMatchObject({
    stdout: outer.stdout,
    stderr: expect.not.stringContaining("inner was not cached"),
  });
});

test.skipIf(!CAN_TRACE)(
  "without a place for the cache scripts run, and one line says so for all",
  async () => {
    await using project = await cachedProject({ a: "echo a", b: "echo b" });
    const { stdout, stderr, status } = await project.rt(["--sequential", "run", "a", "b"], {
      XDG_CACHE_HOME: "/proc/none",
    });
    expect({ stdout, status }).toEqual({ stdout: "a | a\nb | b\n", status: 0 });
    expect(stderr.match(/Nothing is cached: /g)).toEqual(["Nothing is cached: "]);
  },
);

test.skipIf(!CAN_TRACE)("on a full disk scripts run, and nothing half is kept", async () => {
  await using project = await cachedProject({ t: "echo text", other: "true" });
  const full = async () =>
    await runRt({
      program: ["bash", "-c", 'ulimit -f 0; exec "$0" "$@"', RT],
      args: ["run", "t"],
      cwd: project.path,
      env: { XDG_CACHE_HOME: project.cache },
    });
  for (const said of [/Nothing is cached: /, /t was not cached: the cache cannot be written: /]) {
    const { stdout, stderr, status } = await full();
    expect({ stdout, stderr, status }).toEqual({
      stdout: "text\n",
      stderr: expect.stringMatching(said),
      status: 0,
    });
    expect([...new Bun.Glob("**/{drafts,keys,blobs}/**").scanSync(project.cache)]).toEqual([]);
    await project.run("other", { OTHER: "1" });
    await rm(`${project.cache}/rt/scripts-2/keys`, { recursive: true });
    await rm(`${project.cache}/rt/scripts-2/blobs`, { recursive: true });
  }
  expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
});

test.skipIf(!CAN_TRACE)("rt that is killed leaves nothing half, and nothing running", async () => {
  const script = "test -e stop || { echo $$ > started; mv started pid; sleep 1000; }; cat data > out";
  await using project = await cachedProject(
    { t: script },
    { data: "1" },
    't = { ignore = ["started", "pid"] }',
  );
  const rt = startRt({ args: ["run", "t"], cwd: project.path, env: { XDG_CACHE_HOME: project.cache } });
  await waitUntil(async () => await Bun.file(project.join("pid")).exists());
  await guardianOf(rt.pid, 1);
  rt.kill("SIGKILL");
  await rt.exited;
  const pid = (await Bun.file(project.join("pid")).text()).trim();
  await waitUntil(() => !existsSync(`/proc/${pid}/cwd`));
  await project.write({ stop: "" });
  expect([await project.run("t"), await project.run("t")]).toEqual(["ran", "hit"]);
});

test.skipIf(!CAN_TRACE)("the words of rt's own processes are nobody else's", async () => {
  await using project = await cachedProject({}, { "--launch.ts": "console.log('mine')" });
  const { stderr, status } = await project.rt(["--launch", "3", "/bin/true", "true"]);
  expect({ stderr, status }).toEqual({
    stderr: expect.stringContaining('Unknown option "--launch"'),
    status: 1,
  });
});

test.skipIf(!CAN_TRACE)("a script that is given secrets is never cached, alone or among others", async () => {
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
      expect(stderr).toContain("is not cached, since it is given secrets");
    }
  expect((await project.rt(["cache"])).stdout).toStartWith("1 run in ");
  const grep = Bun.spawnSync(["grep", "-rl", "-e", "value-of-the-secret", "-e", "TOKEN", project.cache]);
  expect(grep.stdout.toString()).toBe("");
});
