// With a faulty or malicious server of the Remote Execution API, a script runs or has exactly its own outputs. At most one
// warning is printed.
import { status as Code } from "@grpc/grpc-js";
import { expect, test } from "bun:test";
import { readdir, rm, stat } from "node:fs/promises";
import { toMessage } from "../../support/servers/reapi-digests.ts";
import { type Faults, openReapiServer } from "../../support/servers/reapi-server.ts";
import { CAN_TRACE, cachedProject, forget } from "../cached-project.ts";
import { editIndex } from "./lying-server.ts";
import { expectReadingAfterSlowUpload } from "./slow-upload.ts";
import { ENV, HIT, openShared, RAN, warned } from "./reapi-project.ts";

test.skipIf(!CAN_TRACE)("an entry without a valid signature is not used", async () => {
  await using opened = await openShared();
  const { server, runFresh } = opened;
  expect(await runFresh()).toEqual(RAN);
  const [hash, result] = [...server.results][0]!;
  const whole = Buffer.from(server.blobs.get(result.stdoutDigest!.hash)!);
  const lies: Record<string, (whole: Buffer) => Buffer> = {
    "another signature": (bytes) => (bytes.write("AAAA", 0), bytes),
    "no signature": (bytes) => bytes.subarray(44),
    "another index": (bytes) => ((bytes[60]! ^= 1), bytes),
  };
  const invalid = warned("Shared cache: invalid signature, ignored");
  const missing = warned(
    "Shared cache: a result without a signature is ignored; does the server store signatures?",
  );
  const keep = (bytes: Buffer) => {
    const hasher = new Bun.CryptoHasher("sha256").update(bytes);
    const digest = { hash: hasher.digest("hex"), size: bytes.length };
    server.blobs.set(digest.hash, bytes);
    return toMessage(digest);
  };
  for (const [name, lie] of Object.entries(lies)) {
    server.results.set(hash, { ...result, stdoutDigest: keep(lie(Buffer.from(whole))) });
    expect([name, await runFresh()]).toEqual([name, name === "no signature" ? missing : invalid]);
  }
  // An invalid index is a miss without a warning.
  server.results.set(hash, { ...result, stdoutDigest: keep(Buffer.alloc(1000, "x")) });
  expect(await runFresh()).toEqual(RAN);
  expect(await runFresh()).toEqual(HIT);
  expect(await runFresh({ TURBO_REMOTE_CACHE_SIGNATURE_KEY: "another" })).toMatchObject({ isHit: false });
});

test.skipIf(!CAN_TRACE)(
  "a trusted server cannot write outside the package or create invalid outputs",
  async () => {
    await using opened = await openShared({}, "signature = false\n");
    const { server, project, runFresh } = opened;
    expect(await runFresh({})).toEqual(RAN);
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
      const digest = {
        hash: new Bun.CryptoHasher("sha256").update(sealed).digest("hex"),
        size: sealed.length,
      };
      server.blobs.set(digest.hash, sealed);
      server.results.set(hash, { ...result, stdoutDigest: toMessage(digest) });
      expect(await runFresh({})).toMatchObject({ isHit: false });
      expect((await readdir(project.path)).toSorted()).toEqual(names);
      server.results.set(hash, result);
    }
    expect(await runFresh({})).toEqual(HIT);
  },
);

test.skipIf(!CAN_TRACE)("lost, modified or truncated content is a miss", async () => {
  await using opened = await openShared();
  const { server, runFresh } = opened;
  expect(await runFresh()).toEqual(RAN);
  const damaged = warned("Shared cache: corrupted data, ignored");
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
    expect(await runFresh()).toEqual(damaged);
  }
  // The size in the digest is wrong, and rt requests the blob with it.
  const large =
    (size: bigint): Faults["known"] =>
    ({ outputFiles }) => {
      for (const { digest } of outputFiles) digest!.sizeBytes = size;
    };
  for (const [size, outcome] of [
    [1n, damaged],
    [1n << 40n, RAN],
    [-1n, RAN],
  ] as const) {
    server.faults = { known: large(size) };
    expect([size, await runFresh()]).toEqual([size, outcome]);
  }
  server.faults = { known: (result) => void (result.stdoutDigest!.sizeBytes = 1n << 40n) };
  expect(await runFresh()).toEqual(RAN);
  server.faults = {};
  // The server returns a result and has lost its blobs. The run uploads them again.
  for (const { digest } of [...server.results.values()][0]!.outputFiles) server.blobs.delete(digest!.hash);
  expect(await runFresh()).toEqual(RAN);
  expect(await runFresh()).toEqual(HIT);
  server.blobs.delete([...server.results.values()][0]!.stdoutDigest!.hash);
  expect(await runFresh()).toEqual(RAN);
  expect(await runFresh()).toEqual(HIT);
});

test.skipIf(!CAN_TRACE)("a server that fails causes one warning, and the script runs", async () => {
  await using opened = await openShared();
  const { server, project, runFresh } = opened;
  const WITHOUT = "continuing without it";
  const failing = async (code: Code, ...methods: string[]) => {
    server.faults = {
      fail: (method) => (methods.length === 0 || methods.includes(method) ? code : undefined),
    };
    return await runFresh();
  };
  expect(await runFresh()).toEqual(RAN);
  expect(await failing(Code.UNAVAILABLE)).toEqual(
    warned(`Shared cache: cannot connect (UNAVAILABLE); ${WITHOUT}`),
  );
  expect(await failing(Code.UNAUTHENTICATED)).toEqual(
    warned(`Shared cache: credentials rejected (UNAUTHENTICATED); ${WITHOUT}`),
  );
  expect(await failing(Code.PERMISSION_DENIED, "getActionResult")).toEqual(
    warned(`Shared cache: access denied (PERMISSION_DENIED); ${WITHOUT}`),
  );
  const exhausted = await failing(Code.RESOURCE_EXHAUSTED, "batchReadBlobs");
  expect(exhausted).toEqual(warned("Shared cache: unexpected response (RESOURCE_EXHAUSTED)"));
  expect(await failing(Code.UNIMPLEMENTED, "batchReadBlobs")).toEqual(HIT);
  server.faults = { capabilities: { cacheCapabilities: { digestFunctions: [9] } } };
  expect(await runFresh()).toEqual(
    warned(`Shared cache: cannot use the server: it does not support SHA-256; ${WITHOUT}`),
  );
  // Each first call fails, and its retry succeeds.
  server.faults = { fail: (_, count) => (count % 2 === 1 ? Code.UNAVAILABLE : undefined) };
  expect((await runFresh()).isHit).toBe(true);
  server.faults = {};
  const config = (url: string) => `[run.cache]\nbuild = true\n[cache.remote]\nurl = "${url}"\n`;
  await project.write({ "rtfig.toml": config("grpc://127.0.0.1:1") });
  expect(await runFresh()).toEqual(warned(`Shared cache: cannot connect (UNAVAILABLE); ${WITHOUT}`));
  using silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  await project.write({ "rtfig.toml": `${config(`grpc://127.0.0.1:${silent.port}`)}timeout = 1\n` });
  expect(await runFresh()).toEqual(warned(`Shared cache: no response within 1 s; ${WITHOUT}`));
});

test.skipIf(!CAN_TRACE)("a large download that stalls is cancelled after the timeout", async () => {
  await using server = await openReapiServer({ inlines: true });
  const config = `build = true\n[cache.remote]\nurl = "${server.url}"\ntimeout = 1\n`;
  // The time limit of one call for this size would exceed a minute.
  const big = new Uint8Array(8_000_000);
  await using project = await cachedProject({ build: "cat big > made" }, { big }, config);
  expect(await project.run("build", ENV)).toBe("ran");
  await forget(project);
  await rm(project.join("made"));
  server.faults = { inlines: true, fail: (method) => (method === "read" ? "never" : undefined) };
  expect(await project.run("build", ENV)).toBe("Shared cache: no response within 1 s; continuing without it");
  expect((await stat(project.join("made"))).size).toBe(big.length);
});

test.skipIf(!CAN_TRACE)("a slow upload over gRPC disables further uploads, but not reads", async () => {
  await using server = await openReapiServer({ inlines: true });
  await expectReadingAfterSlowUpload(server.url, ENV, () => {
    server.faults = {
      inlines: true,
      fail: (method) => (["batchUpdateBlobs", "findMissingBlobs"].includes(method) ? "never" : undefined),
    };
  });
});
