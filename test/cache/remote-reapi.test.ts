// A shared cache that speaks the Remote Execution API: what one has done another has not to do, and whatever the server says
// or loses, a script runs or has exactly what it would make. The server is that of test/support/reapi-server.ts; Bazel's own,
// which takes 490 MB of packages, is for `npm run test:remote`.
import { toBinary } from "@bufbuild/protobuf";
import { status as Code } from "@grpc/grpc-js";
import { expect, test } from "bun:test";
import { chmod, readdir, readlink, rm, stat } from "node:fs/promises";
import { toMessage } from "../../src/reapi/digest.ts";
import { ActionResultSchema } from "../../src/reapi/messages/remote_execution_pb.ts";
import { type Faults, openReapiServer, type ReapiServer } from "../support/reapi-server.ts";
import { startRt } from "../support/rt.ts";
import { CAN_TRACE, cachedProject, type CachedProject } from "./cached-project.ts";
import { editIndex } from "./lying-server.ts";
import { KEY } from "./served.ts";

const BUILD =
  "mkdir -p dist/empty; cp page dist/page; cp page dist/tool; : > dist/none; ln -sf page dist/link; chmod 755 dist/tool; echo built; echo err >&2";
const ENV = { TURBO_REMOTE_CACHE_SIGNATURE_KEY: KEY };
/** Of what a signature is in front of an index. */
const TAG = /^[\w+/]{43}=\n/;

interface Opened extends AsyncDisposable {
  readonly server: ReapiServer;
  readonly project: CachedProject;
  /** As one who has nothing but what the server gives. */
  anew(env?: Record<string, string | undefined>): Promise<{ isHit: boolean; said: string[] }>;
}

async function open(faults: Faults = {}, lines = ""): Promise<Opened> {
  const server = await openReapiServer(faults);
  const config = `build = true\n[cache.remote]\nurl = "${server.url}"\n${lines}`;
  const project = await cachedProject({ build: BUILD }, { page: "hello" }, config);
  return {
    server,
    project,
    async anew(env = ENV) {
      await rm(`${project.cache}/rt`, { recursive: true, force: true });
      await rm(project.join("dist"), { recursive: true, force: true });
      const { stderr, stdout, status } = await project.rt(["run", "build"], env);
      expect({ stdout, status }).toEqual({ stdout: "built\n", status: 0 });
      expect(stderr).toContain("\nerr\n");
      const page = project.join("dist/page");
      expect([await Bun.file(page).text(), await readlink(project.join("dist/link"))]).toEqual([
        "hello",
        "page",
      ]);
      expect((await stat(project.join("dist/tool"))).mode & 0o777).toBe(0o755);
      expect((await readdir(project.join("dist"))).toSorted()).toEqual([
        "empty",
        "link",
        "none",
        "page",
        "tool",
      ]);
      const lines = stderr.trimEnd().split("\n");
      return {
        isHit: lines.at(-1)!.startsWith("Done before: "),
        said: lines.filter((line) => /^warn/.test(line)),
      };
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

const RAN = { isHit: false, said: [] };
const HIT = { isHit: true, said: [] };
const told = (line: string) => ({ isHit: false, said: [`warn: ${line}`] });

function callsOf(server: ReapiServer, name?: string): string[] {
  const calls = server.calls.filter((each) => name === undefined || each === name);
  return name === undefined ? server.calls.splice(0) : calls;
}

test.skipIf(!CAN_TRACE)(
  "what one has done another has not to do, in as few requests as there may be",
  async () => {
    await using opened = await open({ inlines: true });
    const { server, project, anew } = opened;
    expect(await anew()).toEqual(RAN);
    server.calls.length = 0;
    expect(await anew()).toEqual(HIT);
    expect(callsOf(server).toSorted()).toEqual(["batchReadBlobs", "getActionResult", "getCapabilities"]);
    // It is here as well from now on, and nobody is asked.
    await rm(project.join("dist"), { recursive: true });
    expect(await project.run("build", ENV)).toBe("hit");
    expect(callsOf(server)).toEqual([]);
    // One that puts nothing into its answers.
    server.faults = {};
    expect(await anew()).toEqual(HIT);
    expect(callsOf(server).length).toBe(4);

    // Of what it makes next, what is not there yet is sent, and of that, what is not here is fetched.
    const known = server.blobs.size;
    await chmod(project.join("page"), 0o600);
    await rm(project.join("dist"), { recursive: true });
    expect(await project.run("build", ENV)).toBe("ran");
    expect(server.blobs.size - known).toBe(1); // an index; the files are as they were
    server.calls.length = 0;
    await rm(`${project.cache}/rt/scripts-2/keys`, { recursive: true });
    await rm(project.join("dist"), { recursive: true });
    expect(await project.run("build", ENV)).toBe("hit");
    expect(callsOf(server, "batchReadBlobs")).toEqual([]);

    const [result] = server.results.values();
    const { stdoutDigest, stdoutRaw, outputFiles, exitCode } = result!;
    expect({ raw: stdoutRaw.length, exitCode }).toEqual({ raw: 0, exitCode: 0 });
    expect(Buffer.from(server.blobs.get(stdoutDigest!.hash)!).toString("latin1")).toMatch(TAG);
    // Both logs are the same, and so are two of the files.
    expect(outputFiles.map(({ digest }) => Number(digest!.sizeBytes)).toSorted((a, b) => a - b)).toEqual([
      0,
      5,
      expect.any(Number),
    ]);
    expect(Buffer.from(toBinary(ActionResultSchema, result!)).toString("latin1")).not.toContain("page");
  },
);

test.skipIf(!CAN_TRACE)("what is larger than a message, compressed where the server offers it", async () => {
  for (const zstd of [false, true]) {
    await using server = await openReapiServer({ zstd });
    const config = `build = true\n[cache.remote]\nurl = "${server.url}"\nsignature = false\n`;
    const script = "mkdir dist; cat big big > dist/big; cat text > dist/text";
    // What hardly becomes smaller, in part.
    const big = new Uint8Array(3_000_000).map((_, at) => (at * 2_654_435_761) >>> 24);
    const text = "a line of text\n".repeat(1000);
    await using project = await cachedProject({ build: script }, { big, text }, config);
    expect(await project.run("build")).toBe("ran");
    expect(callsOf(server, "write").length).toBe(1);
    for (const path of [`${project.cache}/rt`, project.join("dist")]) await rm(path, { recursive: true });
    expect(await project.run("build")).toBe("hit");
    const made = await Bun.file(project.join("dist/big")).bytes();
    expect(Buffer.compare(made, Buffer.concat([big, big]))).toBe(0);
    expect(await Bun.file(project.join("dist/text")).text()).toBe(text);
    expect(server.compressed > 0).toBe(zstd);
  }
});

test.skipIf(!CAN_TRACE)("one who may only read is told once, and goes on reading", async () => {
  await using opened = await open();
  const { server, project, anew } = opened;
  expect(await anew()).toEqual(RAN);
  const results = server.results.size;
  const nothing = (name: string) =>
    told(
      `The shared cache takes nothing with these credentials (${name}); what they make here is not shared`,
    );
  await project.write({ "package.json": { name: "project", scripts: { build: `${BUILD}; :` } } });
  server.faults = {
    fail: (method) => (method === "updateActionResult" ? Code.PERMISSION_DENIED : undefined),
  };
  expect(await anew()).toEqual(nothing("PERMISSION_DENIED"));
  server.faults = { fail: (method) => (method === "findMissingBlobs" ? Code.UNAUTHENTICATED : undefined) };
  expect(await anew()).toEqual(
    told(
      "The shared cache does not accept the credentials (UNAUTHENTICATED); what they make here is not shared",
    ),
  );
  server.faults = { capabilities: { cacheCapabilities: { digestFunctions: [1] } } };
  server.calls.length = 0;
  expect(await anew()).toEqual(
    told("The shared cache takes nothing from here; what they make here is not shared"),
  );
  expect(callsOf(server)).toEqual(["getCapabilities", "getActionResult"]);
  expect(server.results.size).toBe(results);
  await project.write({ "package.json": { name: "project", scripts: { build: BUILD } } });
  expect(await anew()).toEqual(HIT);
});

test.skipIf(!CAN_TRACE)("what is not signed with the key is not used", async () => {
  await using opened = await open();
  const { server, anew } = opened;
  expect(await anew()).toEqual(RAN);
  const [hash, result] = [...server.results][0]!;
  const whole = Buffer.from(server.blobs.get(result.stdoutDigest!.hash)!);
  const lies: Record<string, (whole: Buffer) => Buffer> = {
    "another signature": (bytes) => (bytes.write("AAAA", 0), bytes),
    "no signature": (bytes) => bytes.subarray(44),
    "another index": (bytes) => ((bytes[60]! ^= 1), bytes),
  };
  const unsigned = told("What the shared cache has is not signed with this key, so it is not used");
  const keep = (bytes: Buffer) => {
    const hasher = new Bun.CryptoHasher("sha256").update(bytes);
    const digest = { hash: hasher.digest("hex"), size: bytes.length };
    server.blobs.set(digest.hash, bytes);
    return toMessage(digest);
  };
  for (const [name, lie] of Object.entries(lies)) {
    server.results.set(hash, { ...result, stdoutDigest: keep(lie(Buffer.from(whole))) });
    expect([name, await anew()]).toEqual([name, unsigned]);
  }
  // What is no index at all.
  server.results.set(hash, { ...result, stdoutDigest: keep(Buffer.alloc(1000, "x")) });
  expect(await anew()).toEqual(RAN);
  expect(await anew()).toEqual(HIT);
  expect(await anew({ TURBO_REMOTE_CACHE_SIGNATURE_KEY: "another" })).toMatchObject({ isHit: false });
});

test.skipIf(!CAN_TRACE)("a server that is believed can put nothing where it may not be", async () => {
  await using opened = await open({}, "signature = false\n");
  const { server, project, anew } = opened;
  expect(await anew({})).toEqual(RAN);
  const [hash, result] = [...server.results][0]!;
  const names = (await readdir(project.path)).toSorted();
  const file = (path: string) => (entries: any[]) => {
    const { outputs } = entries[0];
    outputs.push({ ...outputs.find((each: any) => each.kind === "file"), path });
  };
  const edits: ((entries: any[]) => void)[] = [
    ...["../evil", ".git/hooks/pre-commit", "/tmp/rt-evil"].map(file),
    (entries) => entries[0].outputs.push({ kind: "link", path: "dist/evil", target: "/etc/passwd" }),
    (entries) => entries[0].outputs.push({ kind: "device", path: "dist/evil" }),
  ];
  for (const edit of edits) {
    const index = { bytes: server.blobs.get(result.stdoutDigest!.hash)!.subarray(1), headers: {} };
    editIndex(index, edit);
    const sealed = Buffer.concat([Buffer.from("\n"), index.bytes]);
    const digest = { hash: new Bun.CryptoHasher("sha256").update(sealed).digest("hex"), size: sealed.length };
    server.blobs.set(digest.hash, sealed);
    server.results.set(hash, { ...result, stdoutDigest: toMessage(digest) });
    expect(await anew({})).toMatchObject({ isHit: false });
    expect((await readdir(project.path)).toSorted()).toEqual(names);
    server.results.set(hash, result);
  }
  expect(await anew({})).toEqual(HIT);
});

test.skipIf(!CAN_TRACE)(
  "what is lost, changed or cut short is a miss, and nothing of it is used",
  async () => {
    await using opened = await open();
    const { server, anew } = opened;
    expect(await anew()).toEqual(RAN);
    const damaged = told("What the shared cache sends is not what it says, so it is not used");
    const flip = (bytes: Uint8Array) => bytes.map((byte, at) => (at === 0 ? byte ^ 1 : byte));
    const contents: [(bytes: Uint8Array) => Uint8Array, boolean][] = [
      [flip, false],
      [(bytes) => bytes.subarray(1), false],
      [(bytes) => Buffer.concat([bytes, bytes]), false],
      [flip, true],
      [(bytes) => new Uint8Array(bytes.length + (64 << 20)), true],
    ];
    for (const [content, zstd] of contents) {
      server.faults = { content, zstd };
      expect(await anew()).toEqual(damaged);
    }
    // The size is nobody's: it is asked for as what it is not.
    const large =
      (size: bigint): Faults["known"] =>
      ({ outputFiles }) => {
        for (const { digest } of outputFiles) digest!.sizeBytes = size;
      };
    for (const size of [1n, 1n << 40n, -1n]) {
      server.faults = { known: large(size) };
      const { isHit, said } = await anew();
      expect([isHit, said.length < 2]).toEqual([false, true]);
    }
    server.faults = { known: (result) => void (result.stdoutDigest!.sizeBytes = 1n << 40n) };
    expect(await anew()).toEqual(RAN);
    server.faults = {};
    // It gives a result, and has lost what it names; then it is there again.
    for (const { digest } of [...server.results.values()][0]!.outputFiles) server.blobs.delete(digest!.hash);
    expect(await anew()).toEqual(RAN);
    expect(await anew()).toEqual(HIT);
    server.blobs.delete([...server.results.values()][0]!.stdoutDigest!.hash);
    expect(await anew()).toEqual(RAN);
    expect(await anew()).toEqual(HIT);
  },
);

test.skipIf(!CAN_TRACE)("a server that cannot answer is one line, and the script runs", async () => {
  await using opened = await open();
  const { server, project, anew } = opened;
  const WITHOUT = "scripts run without it";
  const failing = async (code: Code, ...methods: string[]) => {
    server.faults = {
      fail: (method) => (methods.length === 0 || methods.includes(method) ? code : undefined),
    };
    return await anew();
  };
  expect(await anew()).toEqual(RAN);
  expect(await failing(Code.UNAVAILABLE)).toEqual(
    told(`The shared cache cannot be reached (UNAVAILABLE); ${WITHOUT}`),
  );
  expect(await failing(Code.UNAUTHENTICATED)).toEqual(
    told(`The shared cache does not accept the credentials (UNAUTHENTICATED); ${WITHOUT}`),
  );
  expect(await failing(Code.PERMISSION_DENIED, "getActionResult")).toEqual(
    told(`The shared cache is forbidden with these credentials (PERMISSION_DENIED); ${WITHOUT}`),
  );
  const exhausted = await failing(Code.RESOURCE_EXHAUSTED, "batchReadBlobs");
  expect(exhausted).toEqual(told("The shared cache did not answer what was asked (RESOURCE_EXHAUSTED)"));
  expect(await failing(Code.UNIMPLEMENTED, "batchReadBlobs")).toEqual(HIT);
  server.faults = { capabilities: { cacheCapabilities: { digestFunctions: [9] } } };
  expect(await anew()).toEqual(told(`The shared cache cannot be used: it does not know SHA-256; ${WITHOUT}`));
  // Once it cannot, and then it can.
  server.faults = { fail: (_, count) => (count % 2 === 1 ? Code.UNAVAILABLE : undefined) };
  expect((await anew()).isHit).toBe(true);
  server.faults = {};
  const config = (url: string) => `[run.cache]\nbuild = true\n[cache.remote]\nurl = "${url}"\ntimeout = 1\n`;
  await project.write({ "rtfig.toml": config("grpc://127.0.0.1:1") });
  expect(await anew()).toEqual(told(`The shared cache cannot be reached (UNAVAILABLE); ${WITHOUT}`));
  using silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  await project.write({ "rtfig.toml": config(`grpc://127.0.0.1:${silent.port}`) });
  expect(await anew()).toEqual(told(`The shared cache did not answer within 1 s; ${WITHOUT}`));
});

test.skipIf(!CAN_TRACE)("who ends a run waits for no answer, and for no upload", async () => {
  for (const held of ["getActionResult", "updateActionResult"]) {
    const asked = Promise.withResolvers<void>();
    await using opened = await open({
      fail(method) {
        if (method === held) asked.resolve();
        return method === held ? "never" : undefined;
      },
    });
    const { project } = opened;
    const env = { XDG_CACHE_HOME: project.cache, ...ENV };
    const child = startRt({ args: ["run", "build"], cwd: project.path, env });
    await asked.promise;
    child.kill("SIGINT");
    await child.exited;
    expect([held, child.signalCode]).toEqual([held, "SIGINT"]);
  }
});
