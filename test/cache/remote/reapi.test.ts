// A shared cache over the Remote Execution API, on the server of test/support/servers/reapi-server.ts. `npm run test:remote`
// uses Bazel's own server instead. lying-reapi-server.test.ts has its faults.
import { toBinary } from "@bufbuild/protobuf";
import { status as Code } from "@grpc/grpc-js";
import { expect, test } from "bun:test";
import { chmod, readdir, rm } from "node:fs/promises";
import { ActionResultSchema } from "../../support/servers/reapi-messages/remote_execution_pb.ts";
import { openReapiServer } from "../../support/servers/reapi-server.ts";
import { cleanEnvironment, startRt } from "../../support/rt.ts";
import { CAN_TRACE, cachedProject, forget } from "../cached-project.ts";
import { BUILD, callsOf, ENV, HIT, openShared, RAN, warned } from "./reapi-project.ts";

/** The signature before an index. */
const TAG = /^[\w+/]{43}=\n/;

test.skipIf(!CAN_TRACE)(
  "an entry of another machine is a hit, with as few requests as possible",
  async () => {
    await using opened = await openShared({ inlines: true });
    const { server, project, runFresh } = opened;
    expect(await runFresh()).toEqual(RAN);
    server.calls.length = 0;
    expect(await runFresh()).toEqual(HIT);
    expect(callsOf(server).toSorted()).toEqual(["batchReadBlobs", "getActionResult", "getCapabilities"]);
    // The entry is in the local cache now, so no request is sent.
    await rm(project.join("dist"), { recursive: true });
    expect(await project.run("build", ENV)).toBe("hit");
    expect(callsOf(server)).toEqual([]);
    // Without inlined content, rt fetches it.
    server.faults = {};
    expect(await runFresh()).toEqual(HIT);
    expect(callsOf(server).length).toBe(4);

    // Only blobs that the server lacks are uploaded, and only blobs that the local cache lacks are fetched.
    const known = server.blobs.size;
    await chmod(project.join("page"), 0o600);
    await rm(project.join("dist"), { recursive: true });
    expect(await project.run("build", ENV)).toBe("ran");
    expect(server.blobs.size - known).toBe(1); // an index; the files are unchanged
    server.calls.length = 0;
    await rm(`${project.cache}/rt/scripts-5/keys`, { recursive: true });
    await rm(project.join("dist"), { recursive: true });
    expect(await project.run("build", ENV)).toBe("hit");
    expect(callsOf(server, "batchReadBlobs")).toEqual([]);

    const [result] = server.results.values();
    const { stdoutDigest, stdoutRaw, outputFiles, exitCode } = result!;
    expect({ raw: stdoutRaw.length, exitCode }).toEqual({ raw: 0, exitCode: 0 });
    expect(Buffer.from(server.blobs.get(stdoutDigest!.hash)!).toString("latin1")).toMatch(TAG);
    // Both output logs are equal, and so are two of the files.
    expect(outputFiles.map(({ digest }) => Number(digest!.sizeBytes)).toSorted((a, b) => a - b)).toEqual([
      0,
      5,
      expect.any(Number),
    ]);
    expect(Buffer.from(toBinary(ActionResultSchema, result!)).toString("latin1")).not.toContain("page");
  },
);

test.skipIf(!CAN_TRACE)(
  "a file larger than a message is streamed, and compressed if the server supports it",
  async () => {
    for (const zstd of [false, true]) {
      await using server = await openReapiServer({ zstd });
      const config = `build = true\n[cache.remote]\nurl = "${server.url}"\nsignature = false\n`;
      const script = "mkdir dist; cat big big > dist/big; cat text > dist/text";
      // Part of the data is incompressible.
      const big = new Uint8Array(3_000_000).map((_, at) => (at * 2_654_435_761) >>> 24);
      const text = "a line of text\n".repeat(1000);
      await using project = await cachedProject({ build: script }, { big, text }, config);
      expect(await project.run("build")).toBe("ran");
      expect(callsOf(server, "write").length).toBe(1);
      await forget(project);
      await rm(project.join("dist"), { recursive: true });
      expect(await project.run("build")).toBe("hit");
      const made = await Bun.file(project.join("dist/big")).bytes();
      expect(Buffer.compare(made, Buffer.concat([big, big]))).toBe(0);
      expect(await Bun.file(project.join("dist/text")).text()).toBe(text);
      expect(server.compressed > 0).toBe(zstd);
    }
  },
);

test.skipIf(!CAN_TRACE)(
  "credentials without write access cause one warning, and reads continue",
  async () => {
    await using opened = await openShared();
    const { server, project, runFresh } = opened;
    expect(await runFresh()).toEqual(RAN);
    const results = server.results.size;
    const nothing = (name: string) =>
      warned(`Shared cache: credentials have no write access (${name}); results are not uploaded`);
    await project.write({ "package.json": { name: "project", scripts: { build: `${BUILD}; :` } } });
    server.faults = {
      fail: (method) => (method === "updateActionResult" ? Code.PERMISSION_DENIED : undefined),
    };
    expect(await runFresh()).toEqual(nothing("PERMISSION_DENIED"));
    server.faults = { fail: (method) => (method === "findMissingBlobs" ? Code.UNAUTHENTICATED : undefined) };
    expect(await runFresh()).toEqual(
      warned("Shared cache: credentials rejected (UNAUTHENTICATED); results are not uploaded"),
    );
    server.faults = { capabilities: { cacheCapabilities: { digestFunctions: [1] } } };
    server.calls.length = 0;
    expect(await runFresh()).toEqual(
      warned("Shared cache: the server is read-only; results are not uploaded"),
    );
    expect(callsOf(server)).toEqual(["getCapabilities", "getActionResult"]);
    expect(server.results.size).toBe(results);
    await project.write({ "package.json": { name: "project", scripts: { build: BUILD } } });
    expect(await runFresh()).toEqual(HIT);
  },
);

test.skipIf(!CAN_TRACE)("SIGINT ends a run that waits for a response or an upload", async () => {
  for (const held of ["getActionResult", "updateActionResult"]) {
    const requested = Promise.withResolvers<void>();
    await using opened = await openShared({
      fail(method) {
        if (method === held) requested.resolve();
        return method === held ? "never" : undefined;
      },
    });
    const { project } = opened;
    const env = { XDG_CACHE_HOME: project.cache, ...ENV };
    const child = startRt({ args: ["run", "build"], cwd: project.path, env });
    await requested.promise;
    child.kill("SIGINT");
    await child.exited;
    expect([held, child.signalCode]).toEqual([held, "SIGINT"]);
  }
});

test.skipIf(!CAN_TRACE)(
  "a dry run queries the shared cache only when --cache says so, and prints whether it did",
  async () => {
    await using opened = await openShared();
    const { server, project, runFresh } = opened;
    expect(await runFresh()).toEqual(RAN);
    await forget(project);
    await rm(project.join("dist"), { recursive: true });
    const dryRun = async (...words: string[]) => {
      server.calls.length = 0;
      const { stdout, stderr, status } = await project.rt(["--why", ...words, "run", "build"], ENV);
      expect([status, (await readdir(project.path)).includes("dist")]).toEqual([0, false]);
      return { stdout, stderr, calls: callsOf(server).toSorted() };
    };
    const miss = "cache miss: no earlier run";
    const text = await dryRun("--dry-run");
    expect(text).toMatchObject({ stderr: "", calls: [] });
    expect(text.stdout).toContain(`  ${miss}; remote: not asked (use --cache=local:r,remote:r)\n`);
    const cacheOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout).tasks[0].cache;
    expect(cacheOf(await dryRun("--dry-run=json"))).toEqual({
      result: "miss",
      why: "no earlier run",
      remote: "not asked",
    });
    const queried = await dryRun("--cache=local:r,remote:r", "--dry-run");
    expect(queried.stdout).toMatch(/^ {2}cache hit: .* \(from the shared cache\)$/m);
    expect(queried.calls).toEqual(["getActionResult", "getCapabilities", "read"]);
    expect(cacheOf(await dryRun("--cache=remote:r", "--dry-run=json"))).toMatchObject({
      result: "hit",
      remote: "asked",
    });
    expect((await dryRun("--cache=local:r", "--dry-run")).calls).toEqual([]);
    server.faults = { fail: () => Code.UNAVAILABLE };
    const unanswered = await dryRun("--cache=remote:r", "--dry-run");
    expect(unanswered.stdout).toContain(`  ${miss}; remote: no answer\n`);
    expect(unanswered.stderr).toBe(
      "warning: Shared cache: cannot connect (UNAVAILABLE); continuing without it\n",
    );
  },
);

test.skipIf(!CAN_TRACE)("many concurrent scripts request the server's capabilities once", async () => {
  await using server = await openReapiServer();
  const names = Array.from({ length: 12 }, (_, at) => `p${at}`);
  const packages = Object.fromEntries(
    names.map((name) => [
      `packages/${name}/package.json`,
      JSON.stringify({ name, scripts: { build: `mkdir -p dist; echo ${name} > dist/out` } }),
    ]),
  );
  await using project = await cachedProject(
    {},
    { ...packages, "package.json": JSON.stringify({ name: "root", workspaces: ["packages/*"] }) },
    `build = true\n[cache.remote]\nurl = "${server.url}"\n`,
  );
  const run = async () => {
    server.calls.length = 0;
    const { stderr, status } = await project.rt(["--filter", "p*", "run", "build"], ENV);
    expect([stderr.includes("warn"), status]).toEqual([false, 0]);
    for (const name of names) {
      const out = project.join(`packages/${name}/dist/out`);
      expect(await Bun.file(out).text()).toBe(`${name}\n`);
      await rm(project.join(`packages/${name}/dist`), { recursive: true });
    }
    await forget(project);
    return ["getCapabilities", "getActionResult", "updateActionResult"].map(
      (name) => callsOf(server, name).length,
    );
  };
  // A miss reads the index twice: before the run, and before the new entry is added.
  expect(await run()).toEqual([1, 24, 12]);
  expect(await run()).toEqual([1, 12, 0]);
});

test.skipIf(!CAN_TRACE)(
  "a header's value comes from [secrets], and only the server that the user allowed receives it",
  async () => {
    await using server = await openReapiServer();
    const lines = [
      `build = true\n[cache.remote]\nurl = "${server.url}"\nsignature = false`,
      '[cache.remote.headers]\nauthorization = "Bearer $API_KEY"',
      '[secrets.API_KEY]\nfrom.command = ["cat", "secret"]\n',
    ];
    const files = { page: "hello", secret: "s3cret-t0ken" };
    await using project = await cachedProject({ build: "cat page; env" }, files, lines.join("\n"));
    const refused = await project.rt(["run", "build"], { RT_TRUST: undefined });
    expect(refused.status).toBe(0);
    expect(refused.stderr).toStartWith("warning: shared cache disabled: ");
    expect(server.calls).toEqual([]);
    const [, hash] = /RT_TRUST=([\da-f]{64})$/m.exec(refused.stderr)!;
    const allowed = await project.rt(["--force", "run", "build"], { RT_TRUST: hash });
    expect([allowed.stderr.includes("warn"), allowed.status]).toEqual([false, 0]);
    expect([server.headers.get("authorization"), server.results.size]).toEqual(["Bearer s3cret-t0ken", 1]);
    expect(allowed.stdout + allowed.stderr).not.toContain("s3cret");

    // The consent covers this header and this server. Another port of the host gets neither the value nor a call.
    await using other = await openReapiServer();
    const write = async (url: string) =>
      await project.write({ "rtfig.toml": `[run.cache]\n${lines.join("\n")}`.replace(server.url, url) });
    lines[1] += '\nx-team = "acme"';
    await write(server.url);
    server.calls.length = 0;
    expect(await project.rt(["--force", "run", "build"], { RT_TRUST: hash })).toMatchObject({ status: 0 });
    expect(server.calls.length).toBeGreaterThan(0);
    expect([...server.headers].filter(([, value]) => value.includes("s3cret")).map(([name]) => name)).toEqual(
      ["authorization"],
    );
    expect(server.headers.get("x-team")).toBe("acme");
    await write(other.url);
    const otherServer = await project.rt(["--force", "run", "build"], { RT_TRUST: hash });
    expect([otherServer.status, otherServer.stderr.includes("shared cache disabled")]).toEqual([0, true]);
    expect(otherServer.stdout + otherServer.stderr).not.toContain("s3cret");
    expect([other.calls, [...other.headers]]).toEqual([[], []]);
  },
);

test.skipIf(!CAN_TRACE)("a header of [cache.remote] is not sent to the server of [run.remote]", async () => {
  await using cache = await openReapiServer();
  await using remote = await openReapiServer();
  const text = [
    `build = true\n[cache.remote]\nurl = "${cache.url}"\nsignature = false`,
    '[cache.remote.headers]\nauthorization = "Bearer $CACHE_KEY"\nx-cache = "$CACHE_KEY"',
    `[run.remote]\nurl = "${remote.url}"\nsystem = "${process.platform}-${process.arch}"`,
    '[run.remote.headers]\nauthorization = "Bearer $RUN_KEY"\n[run.remote.scripts.check]\nremote = true\n',
  ].join("\n");
  await using project = await cachedProject(
    { build: "cat page", check: "cat page" },
    { page: "hello" },
    text,
  );
  await Bun.spawn(["git", "init", "--quiet"], { cwd: project.path, env: cleanEnvironment() }).exited;
  const env = { CACHE_KEY: "s3cret-of-cache", RUN_KEY: "s3cret-of-run" };
  for (const script of ["build", "check"])
    expect(await project.rt(["run", script], env)).toMatchObject({ status: 0 });
  const secrets = ({ headers }: typeof cache) => [...headers].filter(([, value]) => value.includes("s3cret"));
  expect(secrets(cache).toSorted()).toEqual([
    ["authorization", "Bearer s3cret-of-cache"],
    ["x-cache", "s3cret-of-cache"],
  ]);
  expect(secrets(remote)).toEqual([["authorization", "Bearer s3cret-of-run"]]);
});
