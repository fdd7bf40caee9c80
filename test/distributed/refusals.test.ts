// Invalid uses of `--share` cause one error before anything runs, without the password. Scripts that cannot be shared run on
// each machine.
import { expect, test } from "bun:test";
import { CAN_TRACE } from "../cache/cached-project.ts";
import { createCertificates } from "../support/servers/certificates.ts";
import { createProject } from "../support/project.ts";
import { HAS_REDIS, startRedis } from "../support/servers/redis.ts";
import { expectRt, runRt } from "../support/rt.ts";
import { workspace } from "../support/workspace.ts";
import { createMachines, RECORD } from "./machines.ts";

const EXAMPLE =
  "hint: for example: rt run --share rediss://redis.example.com:6379 --share-id $CI_RUN --filter '*' build\n";
const IDENTIFY =
  "hint: use the same value on all machines of this run only: in GitHub Actions --share-id $GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT\n";
const ADDRESS =
  "error: --share needs the address of a Redis, which begins with redis:// or rediss://\n" + EXAMPLE;

const share = ["--share=redis://127.0.0.1:1", "--share-id=1"];
const caches = '[cache.remote]\nurl = "http://127.0.0.1:1"\n';
/** Servers from environment variables need no consent. */
const CACHE = {
  TURBO_API: "http://127.0.0.1:1",
  TURBO_TOKEN: "t",
  TURBO_REMOTE_CACHE_SIGNATURE_KEY: "k",
};
const files = (config: string) => ({
  ...workspace({ a: { scripts: { t: "echo a" } }, b: { scripts: { t: "echo b" } } }),
  "rtfig.toml": config,
});

test.each<[words: string[], stderr: string, config?: string]>([
  [["--share=redis://127.0.0.1:1"], `error: --share needs --share-id\n${IDENTIFY}`],
  [
    ["--share=redis://127.0.0.1:1", `--share-id=${"x".repeat(201)}`],
    `error: --share-id has more than 200 characters\n${IDENTIFY}`,
  ],
  [["--share-id=1"], `error: --share-id has no effect without --share\n${EXAMPLE}`],
  [["--share-name=a"], `error: --share-name has no effect without --share\n${EXAMPLE}`],
  ...["http://:pass-w0rd@x", "redis://", "pass-w0rd", "redis://x/one", "redis://x/0?y"].map(
    (url): [string[], string] => [[`--share=${url}`, "--share-id=1"], ADDRESS],
  ),
  [["--share=", "--share-id=1"], "error: --share needs a value\nhint: write it as --share=<url>\n"],
  ...["--shard=1/2", "--sequential", "--watch", "--force", "--no-cache", "--verify-inputs", "--remote"].map(
    (word): [string[], string] => [
      [...share, word],
      `error: --share cannot be used with ${word.split("=")[0]}\nhint: remove one of them\n`,
    ],
  ),
  [
    share,
    "error: --share needs cached scripts and [cache.remote], which transfer outputs between machines\n" +
      'hint: add to [cache.remote] of rtfig.toml: url = "https://cache.example.com"\nhint: rt help ci\n',
    "[run.cache]\nt = true\n",
  ],
  [
    [...share, "--cache=local:rw,remote:r"],
    "error: --share needs a shared cache that is read and written\nhint: remove --cache and TURBO_CACHE\n",
    `[run.cache]\nt = true\n${caches}`,
  ],
  [
    share,
    "error: --share needs the shared cache: shared cache disabled: TURBO_TOKEN is not set\n" +
      'hint: set it, or add to [secrets.TURBO_TOKEN] of rtfig.toml: from = "service/TURBO_TOKEN"\n',
    `# without a token\n[run.cache]\nt = true\n${caches}`,
  ],
])("the arguments %j are an error before anything runs", async (words, stderr, config = "") => {
  const env = config.startsWith("#") || !config.includes(caches) ? {} : CACHE;
  const args = ["run", "--filter", "*", ...words, "t"];
  await expectRt({ files: files(config), args, env, stderr, status: 1 });
});

const PASSWORD = "a wr0ng p/ss@word";

test.skipIf(!HAS_REDIS)("an unusable Redis causes one error without the password", async () => {
  await using redis = await startRedis("right");
  await using project = await createProject(files(`[run.cache]\nt = true\n${caches}`));
  const env = CACHE;
  const run = async (url: string, password?: string) => {
    const args = ["run", `--share=${url}`, "--share-id=1", "--filter", "*", "t"];
    const { stdout, stderr, status } = await runRt({
      args,
      cwd: project.path,
      env: { ...env, RT_SHARE_PASSWORD: password },
    });
    expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
    return stderr;
  };
  const refused = (why: string, url = redis.url) =>
    `error: The Redis at ${url} ${why}\nhint: nothing was run; see rt help ci for the requirements of --share\n`;
  expect(await run(redis.url, PASSWORD)).toBe(refused("rejected the password"));
  const inUrl = redis.url.replace("//", `//default:${encodeURIComponent(PASSWORD)}@`);
  expect(await run(inUrl)).toBe(refused("rejected the password"));
  expect(await run(redis.url)).toBe(refused("needs a password"));
  const other = `${redis.url}/99`;
  expect(await run(other, "right")).toBe(refused("has no database with that number", other));
  expect(await run("redis://127.0.0.1:1")).toBe(
    refused("cannot be reached (ECONNREFUSED)", "redis://127.0.0.1:1"),
  );
  // A server that echoes its input.
  using liar = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket, bytes) => void socket.end(`-ERR what is ${bytes.toString("latin1")}\r\n`) },
  });
  const url = `redis://127.0.0.1:${liar.port}`;
  expect(await run(url, PASSWORD)).toBe(refused("does not respond like a Redis server", url));
});

test.skipIf(!CAN_TRACE)(
  "the Redis password is sent only to a server with a trusted certificate, even if .env disables verification",
  async () => {
    await using certificates = await createCertificates();
    await using machines = await createMachines({
      count: 1,
      packages: { a: { t: "cat src.txt > out.txt" } },
      redis: await startRedis(PASSWORD, certificates),
    });
    const [machine] = machines.all;
    await Bun.write(`${machine!.path}/.env`, "NODE_TLS_REJECT_UNAUTHORIZED=0\nRT_SHARE_PASSWORD=none\n");
    const env = { RT_SHARE_PASSWORD: PASSWORD };
    const refused = await machine!.start([], env).result;
    expect(refused.stderr).toMatch(
      /^error: The Redis at rediss:\/\/localhost:\d+ has an untrusted certificate \([A-Z_]+\)\nhint: /,
    );
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: certificates.authority };
    const { stderr, status } = await machine!.start([], trusting).result;
    expect({ stderr, status }).toEqual({
      stderr: expect.stringContaining("1 of 1 scripts are shared"),
      status: 0,
    });
    expect(stderr).not.toContain(PASSWORD);
  },
);

test.skipIf(!CAN_TRACE)(
  "the Redis password comes from [secrets], and only the server that the user allowed receives it",
  async () => {
    const config = [
      't = { outputs = ["out.txt"], env = ["GATES"] }',
      `[secrets.RT_SHARE_PASSWORD]\nfrom.command = ["printf", "${PASSWORD}"]`,
    ].join("\n");
    const packages = { a: { t: "cat src.txt > out.txt; env" } };
    await using machines = await createMachines({
      count: 1,
      packages,
      config,
      redis: await startRedis(PASSWORD),
    });
    const [machine] = machines.all;
    const refused = await machine!.start([]).result;
    expect(refused.stderr).toContain(" is not allowed to send RT_SHARE_PASSWORD to the Redis redis://");
    expect(refused.status).toBe(1);
    const [, hash] = /RT_TRUST=([\da-f]{64})$/m.exec(refused.stderr)!;
    const allowed = await machine!.start([], { RT_TRUST: hash }).result;
    expect(allowed).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("1 of 1 scripts are shared"),
    });
    expect(allowed.stdout + allowed.stderr).not.toContain(PASSWORD);
    const otherServer = await machine!.start(["--share=redis://127.0.0.1:1"], { RT_TRUST: hash }).result;
    expect(otherServer.stderr).toContain(" to send RT_SHARE_PASSWORD to the Redis redis://127.0.0.1:1");
  },
);

test.skipIf(!CAN_TRACE)("a machine with another plan is rejected", async () => {
  await using machines = await createMachines({ count: 2, packages: { a: { t: "cat src.txt > out.txt" } } });
  const [one, two] = machines.all;
  expect((await one!.start([]).result).status).toBe(0);
  const manifest = { name: "a", scripts: { t: "cat src.txt > other.txt" } };
  await Bun.write(`${two!.path}/packages/a/package.json`, JSON.stringify(manifest));
  expect(await two!.start([]).result).toEqual({
    stdout: "",
    stderr: expect.stringMatching(
      /^error: The machines that share "[\w-]+" differ in commit, options, system or version of rt\nhint: use the same on all machines, or another --share-id for another run\n$/,
    ),
    status: 1,
  });
});

test("--share runs all scripts on each machine, without Redis, when none of them can be shared", async () => {
  await using project = await createProject({
    ...workspace({
      a: { scripts: { t: 'echo a >> "$RAN"' } },
      b: { scripts: { t: 'echo b >> "$RAN"; exit 3' }, dependencies: { a: "*" } },
    }),
    "rtfig.toml": `[run.cache]\n"b#t" = { shared = false, outputs = [], env = ["RAN"] }\n${caches}`,
  });
  const env = {
    ...CACHE,
    RAN: project.join("ran.txt"),
  };
  for (const name of ["m1", "m2"]) {
    const args = ["run", "--filter", "*", ...share, `--share-name=${name}`, "t"];
    const { stderr, status } = await runRt({ args, cwd: project.path, env });
    expect(stderr).toStartWith(
      "warning: These scripts are not shared, so each machine runs them: a t (not cached), b t (shared = false)\n",
    );
    expect(status).toBe(3);
  }
  expect(await Bun.file(project.join("ran.txt")).text()).toBe("a\nb\na\nb\n");
});

test.skipIf(!CAN_TRACE)("scripts that cannot be shared run on each machine, with a warning", async () => {
  const packages = { a: { t: RECORD }, b: { t: `${RECORD}; cat src.txt > out.txt`, needs: ["a"] } };
  const config = '"b#t" = { trace = false, outputs = ["out.txt"], env = ["RAN"] }';
  await using machines = await createMachines({ count: 2, packages, config });
  const plan = (await machines.all[0]!.start(["--dry-run"]).result).stdout;
  expect(plan).toStartWith("a t\n  on each machine: not cached\n");
  expect(plan).toContain("\nb t (after a t)\n  cache miss: no earlier run; ");
  const { stdout } = await machines.all[0]!.start(["--dry-run=json"]).result;
  expect(JSON.parse(stdout).tasks.map(({ shared }: { shared: boolean }) => shared)).toEqual([false, true]);
  expect(await machines.ran()).toEqual([]);
  for (const machine of machines.all) {
    const { status, stderr } = await machine.start(["--report=run.html"]).result;
    expect(status).toBe(0);
    expect(stderr).toContain(
      "warning: These scripts are not shared, so each machine runs them: a t (not cached)\n",
    );
    const page = await Bun.file(`${machine.path}/run.html`).text();
    expect(page.match(/"machine":"m\d"/g)).toEqual([`"machine":"${machine.name}"`, '"machine":"m1"']);
  }
  expect((await machines.ran()).map((line) => line.split(" ")[0])).toEqual(["a", "b", "a"]);
});
