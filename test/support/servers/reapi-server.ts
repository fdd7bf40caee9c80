// A fake server of the Remote Execution API with faults. It really executes actions: input root in a separate folder, command,
// outputs. reapi-worker.ts runs Bazel's own worker, which has no faults.
//
// It uses @grpc/grpc-js and the messages of @bufbuild/protobuf, so that rt's own encoder and decoder are not tested against
// themselves.
import {
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  status,
} from "@grpc/grpc-js";
import {
  clone,
  create,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type Digest, digestOf, encode, toMessage } from "./reapi-digests.ts";
import { ByteStream } from "./reapi-messages/bytestream_pb.ts";
import { Operations, OperationSchema } from "./reapi-messages/operations_pb.ts";
import {
  ActionCache,
  ActionResultSchema,
  ActionSchema,
  Capabilities,
  CommandSchema,
  ContentAddressableStorage,
  DirectorySchema,
  ExecuteResponseSchema,
  Execution,
  TreeSchema,
} from "./reapi-messages/remote_execution_pb.ts";

export type ActionResult = MessageShape<typeof ActionResultSchema>;

export interface Faults {
  /** Fails a call with this code, or never answers it. @param count of this method's calls, from 1 up */
  fail?(method: string, count: number): status | "never" | undefined;
  /** Delays a response until this settles. @param hashes of the requested content */
  hold?(method: string, hashes: readonly string[]): Promise<void> | undefined;
  /** Changes the result of an action. */
  result?(result: ActionResult, keep: (bytes: Uint8Array) => Digest): void;
  /** Changes content that a client reads. */
  content?(bytes: Uint8Array): Uint8Array;
  /** Called at the start of each action, which continues when this settles. */
  started?(count: number): Promise<void> | void;
  /** Ends an execution with this status and without a result. */
  status?(count: number): { code: number; message: string } | undefined;
  /** Whether the stream of an execution ends after its name was sent. @param count of streams, from 1 up */
  cut?(count: number): boolean;
  capabilities?: object;
  /** Changes a requested result. */
  known?(result: ActionResult, keep: (bytes: Uint8Array) => Digest): void;
  /** Whether responses contain inline output when requested. */
  inlines?: boolean;
  /** Whether the server supports zstd. */
  zstd?: boolean;
  /** Every action succeeds without running. */
  executesNothing?: boolean;
  /** Whether failed results are stored too, and returned to clients that do not skip the lookup. */
  keepsFailures?: boolean;
  /** The name of the worker; "" omits it. */
  worker?: string;
}

export interface ReapiServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Names of the called methods, in order. */
  readonly calls: string[];
  /** Headers of the last call. */
  readonly headers: Map<string, string>;
  /** Requested instance names. */
  readonly instances: Set<string>;
  /** Commands of the executed actions. */
  readonly commands: MessageShape<typeof CommandSchema>[];
  readonly blobs: Map<string, Uint8Array>;
  /** Results by action hash. */
  readonly results: Map<string, ActionResult>;
  /** Number of compressed transfers. */
  compressed: number;
  readonly cancelled: string[];
  faults: Faults;
}

type Call = { request: never; metadata: { getMap(): Record<string, unknown> } };
type Answer = (error: object | null, message?: object) => void;

export async function openReapiServer(
  faults: Faults = {},
  tls?: { key: string; cert: string; ca?: string },
): Promise<ReapiServer> {
  const blobs = new Map<string, Uint8Array>();
  const results = new Map<string, ActionResult>();
  const operations = new Map<string, Promise<MessageShape<typeof OperationSchema>>>();
  const counts = new Map<string, number>();
  const server = new Server({ "grpc.max_receive_message_length": 4 << 20 });
  const state: Omit<ReapiServer, "port" | "url" | typeof Symbol.asyncDispose> = {
    calls: [],
    headers: new Map(),
    instances: new Set(),
    commands: [],
    blobs,
    results,
    compressed: 0,
    cancelled: [],
    faults,
  };
  const keep = (bytes: Uint8Array): Digest => {
    const digest = digestOf(bytes);
    blobs.set(digest.hash, bytes);
    return digest;
  };

  function serve(
    service: DescService,
    methods: Record<string, (call: never, answer: Answer) => unknown>,
  ): void {
    const definition: Record<string, object> = {};
    const handlers: Record<string, handleUnaryCall<object, object>> = {};
    for (const [name, handle] of Object.entries(methods)) {
      const method = service.method[name]!;
      definition[name] = {
        path: `/${service.typeName}/${method.name}`,
        requestStream: method.methodKind === "client_streaming",
        responseStream: method.methodKind === "server_streaming",
        requestSerialize: (message: never) => Buffer.from(toBinary(method.input, message)),
        requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
        responseSerialize: (message: never) => Buffer.from(toBinary(method.output, message)),
        responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
      };
      const outputOf = (message: object) => create(method.output, message as never);
      handlers[name] = ((call: Call & ServerWritableStream<object, object>, answer: Answer | undefined) => {
        const count = (counts.get(name) ?? 0) + 1;
        counts.set(name, count);
        state.calls.push(name);
        for (const [key, value] of Object.entries(call.metadata.getMap()))
          state.headers.set(key, String(value));
        const { instanceName, resourceName } = (call.request ?? {}) as Record<string, string | undefined>;
        const instance = instanceName ?? (resourceName && /^(.*?)\/?blobs\//.exec(resourceName)?.[1]);
        if (instance !== undefined) state.instances.add(instance);
        const code = state.faults.fail?.(name, count);
        if (code === "never") return;
        const error = code === undefined ? undefined : { code, details: `no ${name} now` };
        if (error && answer) return answer(error);
        if (error) return void call.emit("error", error);
        const go = () =>
          handle(call as never, (failure, message) => answer!(failure, message && outputOf(message)));
        const held = state.faults.hold?.(name, readHashes(call.request));
        return held ? held.then(go) : go();
      }) as never;
    }
    server.addService(definition as never, handlers as never);
  }

  const contentOf = (name: string) =>
    /(?:^|\/)(?:compressed-)?blobs\/(?:zstd\/)?([\da-f]{64})\/(\d+)$/.exec(name)!;
  const unpack = (bytes: Uint8Array, isPacked: boolean) => {
    if (!isPacked) return bytes;
    state.compressed++;
    return zstdDecompressSync(bytes);
  };
  const pack = (bytes: Uint8Array, isPacked: boolean) => {
    if (!isPacked) return bytes;
    state.compressed++;
    // Several frames, as some servers send them.
    const half = bytes.length >> 1;
    return Buffer.concat([zstdCompressSync(bytes.subarray(0, half)), zstdCompressSync(bytes.subarray(half))]);
  };

  serve(Capabilities, {
    getCapabilities: (_, answer) =>
      answer(null, {
        cacheCapabilities: {
          digestFunctions: [1],
          maxBatchTotalSizeBytes: BigInt(4 << 20),
          actionCacheUpdateCapabilities: { updateEnabled: true },
          ...(state.faults.zstd && { supportedCompressors: [1], supportedBatchUpdateCompressors: [1] }),
        },
        executionCapabilities: { execEnabled: true },
        ...state.faults.capabilities,
      }),
  });
  serve(ContentAddressableStorage, {
    findMissingBlobs: ({ request }: { request: { blobDigests: { hash: string }[] } }, answer) =>
      answer(null, { missingBlobDigests: request.blobDigests.filter(({ hash }) => !blobs.has(hash)) }),
    batchUpdateBlobs: (
      {
        request,
      }: { request: { requests: { digest: { hash: string }; data: Uint8Array; compressor: number }[] } },
      answer,
    ) => {
      const responses = request.requests.map(({ digest, data: sent, compressor }) => {
        const data = unpack(sent, compressor === 1);
        const isRight = digestOf(data).hash === digest.hash;
        if (isRight) blobs.set(digest.hash, data);
        return { digest, status: { code: isRight ? 0 : status.INVALID_ARGUMENT, message: "another digest" } };
      });
      answer(null, { responses });
    },
    batchReadBlobs: (
      { request }: { request: { digests: { hash: string }[]; acceptableCompressors: number[] } },
      answer,
    ) =>
      answer(null, {
        responses: request.digests.map((digest) => {
          const bytes = blobs.get(digest.hash);
          if (!bytes) return { digest, status: { code: status.NOT_FOUND, message: "gone" } };
          const isPacked = request.acceptableCompressors.includes(1);
          const data = pack(state.faults.content?.(bytes) ?? bytes, isPacked);
          return { digest, data, compressor: isPacked ? 1 : 0 };
        }),
      }),
  });
  serve(ByteStream, {
    read: (call: ServerWritableStream<{ resourceName: string }, object>) => {
      const bytes = blobs.get(contentOf(call.request.resourceName)[1]!);
      if (!bytes) return void call.emit("error", { code: status.NOT_FOUND, details: "gone" });
      const isPacked = call.request.resourceName.includes("compressed-blobs/zstd/");
      const sent = pack(state.faults.content?.(bytes) ?? bytes, isPacked);
      for (let at = 0; at < sent.length; at += 1 << 20)
        call.write(create(ByteStream.method.read.output, { data: sent.subarray(at, at + (1 << 20)) }));
      call.end();
    },
    write: (call: AsyncIterable<{ resourceName: string; data: Uint8Array }>, answer) => {
      void (async () => {
        const parts: Uint8Array[] = [];
        let name = "";
        for await (const { resourceName, data } of call) {
          name ||= resourceName;
          parts.push(data);
        }
        const sent = Buffer.concat(parts);
        const bytes = unpack(sent, name.includes("/compressed-blobs/zstd/"));
        if (digestOf(bytes).hash !== contentOf(name)[1])
          return answer({ code: status.INVALID_ARGUMENT, details: "another" });
        keep(bytes);
        answer(null, { committedSize: BigInt(sent.length) });
      })();
    },
  });
  serve(ActionCache, {
    getActionResult: (
      { request }: { request: { actionDigest: { hash: string }; inlineStdout: boolean } },
      answer,
    ) => {
      const kept = results.get(request.actionDigest.hash);
      if (!kept) return answer({ code: status.NOT_FOUND, details: "none" });
      const result = clone(ActionResultSchema, kept);
      state.faults.known?.(result, keep);
      const stdout = blobs.get(result.stdoutDigest?.hash ?? "");
      if (state.faults.inlines && request.inlineStdout && stdout) result.stdoutRaw = stdout;
      return answer(null, result);
    },
    // Validates the result like strict servers: every blob in it must exist.
    updateActionResult: (
      { request }: { request: { actionDigest: { hash: string }; actionResult: ActionResult } },
      answer,
    ) => {
      const { actionDigest, actionResult } = request;
      const named = [
        actionDigest,
        actionResult.stdoutDigest,
        ...actionResult.outputFiles.map(({ digest }) => digest),
      ];
      if (actionResult.stdoutRaw.length > 0 || named.some((digest) => digest && !blobs.has(digest.hash)))
        return answer({ code: status.INVALID_ARGUMENT, details: "not a result of what is here" });
      results.set(actionDigest.hash, actionResult);
      answer(null, actionResult);
    },
  });
  let streams = 0;
  const follow = (call: ServerWritableStream<object, object>, name: string) => {
    call.write(create(OperationSchema, { name }));
    if (state.faults.cut?.(++streams)) return call.end();
    void operations.get(name)!.then((done) => {
      call.write(done);
      call.end();
    });
  };
  serve(Execution, {
    execute: (
      call: ServerWritableStream<{ actionDigest: { hash: string }; skipCacheLookup: boolean }, object>,
    ) => {
      const name = `operations/${operations.size + 1}`;
      const { actionDigest, skipCacheLookup } = call.request;
      const kept =
        state.faults.keepsFailures && !skipCacheLookup ? results.get(actionDigest.hash) : undefined;
      const count = operations.size + 1;
      operations.set(
        name,
        kept ? Promise.resolve(doneWith(name, { result: kept })) : run(actionDigest.hash, name, count),
      );
      follow(call, name);
    },
    waitExecution: (call: ServerWritableStream<{ name: string }, object>) => {
      if (operations.has(call.request.name)) follow(call, call.request.name);
      else call.emit("error", { code: status.NOT_FOUND, details: "no such operation" });
    },
  });
  serve(Operations, {
    cancelOperation: ({ request }: { request: { name: string } }, answer) => {
      state.cancelled.push(request.name);
      answer(null, {});
    },
  });

  async function run(
    hash: string,
    name: string,
    count: number,
  ): Promise<MessageShape<typeof OperationSchema>> {
    await state.faults.started?.(count);
    const done = (response: MessageInitShape<typeof ExecuteResponseSchema>) => doneWith(name, response);
    if (state.faults.executesNothing) return done({ result: {} });
    const faultStatus = state.faults.status?.(count);
    if (faultStatus) return done({ status: faultStatus });
    const read = (digest: { hash: string } | undefined) => {
      const bytes = blobs.get(digest!.hash);
      if (!bytes) throw Object.assign(new Error("gone"), { digest });
      return bytes;
    };
    const folder = await mkdtemp(join(tmpdir(), "rt-reapi-"));
    try {
      const action = fromBinary(ActionSchema, read({ hash }));
      const command = fromBinary(CommandSchema, read(action.commandDigest));
      state.commands.push(command);
      await writeTree(folder, read(action.inputRootDigest), read);
      const cwd = join(folder, command.workingDirectory);
      const env = Object.fromEntries(
        command.environmentVariables.map(({ name: key, value }) => [key, value]),
      );
      const child = Bun.spawn(command.arguments, {
        cwd,
        env,
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr, exitCode] = await Promise.all([
        new Response(child.stdout).bytes(),
        new Response(child.stderr).bytes(),
        child.exited,
      ]);
      const result = create(ActionResultSchema, {
        exitCode,
        executionMetadata: {
          worker: state.faults.worker ?? "",
          ...(state.faults.worker !== undefined && {
            executionStartTimestamp: { seconds: 10n, nanos: 500_000_000 },
            executionCompletedTimestamp: { seconds: 12n, nanos: 0 },
          }),
        },
        stdoutDigest: toMessage(keep(stdout)),
        stderrDigest: toMessage(keep(stderr)),
      });
      for (const path of command.outputPaths) await collect(cwd, path, result, keep);
      if (exitCode === 0 || state.faults.keepsFailures) results.set(hash, result);
      state.faults.result?.(result, keep);
      return done({ result });
    } catch (error) {
      const { digest } = error as { digest?: { hash: string } };
      const code = digest ? status.FAILED_PRECONDITION : status.INTERNAL;
      return done({ status: { code, message: digest ? `missing blobs/${digest.hash}` : String(error) } });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  const port = await new Promise<number>((resolve, reject) => {
    const credentials = tls
      ? ServerCredentials.createSsl(
          tls.ca === undefined ? null : Buffer.from(tls.ca),
          [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) }],
          tls.ca !== undefined,
        )
      : ServerCredentials.createInsecure();
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return Object.assign(state, {
    port,
    url: `${tls ? "grpcs" : "grpc"}://${tls ? "localhost" : "127.0.0.1"}:${port}`,
    [Symbol.asyncDispose]: async () => server.forceShutdown(),
  });
}

function doneWith(name: string, response: MessageInitShape<typeof ExecuteResponseSchema>) {
  const value = anyPack(ExecuteResponseSchema, create(ExecuteResponseSchema, response));
  return create(OperationSchema, { name, done: true, result: { case: "response", value } });
}

function readHashes(request: object | undefined): string[] {
  const { digests, resourceName } = (request ?? {}) as { digests?: Digest[]; resourceName?: string };
  return digests?.map(({ hash }) => hash) ?? /[\da-f]{64}/.exec(resourceName ?? "") ?? [];
}

async function writeTree(
  folder: string,
  bytes: Uint8Array,
  read: (digest: { hash: string } | undefined) => Uint8Array,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { files, directories, symlinks } = fromBinary(DirectorySchema, bytes);
  for (const { name, digest, isExecutable } of files) {
    await writeFile(join(folder, name), read(digest));
    if (isExecutable) await chmod(join(folder, name), 0o755);
  }
  for (const { name, target } of symlinks) await symlink(target, join(folder, name));
  for (const { name, digest } of directories) await writeTree(join(folder, name), read(digest), read);
}

async function collect(
  cwd: string,
  path: string,
  result: ActionResult,
  keep: (bytes: Uint8Array) => Digest,
): Promise<void> {
  const state = await lstat(join(cwd, path)).catch(() => undefined);
  if (!state) return;
  if (state.isDirectory()) {
    const children: MessageShape<typeof DirectorySchema>[] = [];
    const root = await readTree(join(cwd, path), children, keep);
    const tree = encode(TreeSchema, create(TreeSchema, { root, children }));
    result.outputDirectories.push({
      $typeName: "build.bazel.remote.execution.v2.OutputDirectory",
      path,
      treeDigest: toMessage(keep(tree.bytes)),
    });
  } else {
    const digest = toMessage(keep(await readFile(join(cwd, path))));
    const isExecutable = (state.mode & 0o100) !== 0;
    result.outputFiles.push({
      $typeName: "build.bazel.remote.execution.v2.OutputFile",
      path,
      digest,
      isExecutable,
    });
  }
}

async function readTree(
  folder: string,
  children: MessageShape<typeof DirectorySchema>[],
  keep: (bytes: Uint8Array) => Digest,
): Promise<MessageShape<typeof DirectorySchema>> {
  const message = create(DirectorySchema, {});
  for (const each of (await readdir(folder, { withFileTypes: true })).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const { name } = each;
    const path = join(folder, name);
    if (each.isDirectory()) {
      const child = await readTree(path, children, keep);
      children.push(child);
      const digest = toMessage(encode(DirectorySchema, child).digest);
      message.directories.push({ $typeName: "build.bazel.remote.execution.v2.DirectoryNode", name, digest });
    } else if (each.isSymbolicLink()) {
      const target = await readlink(path);
      message.symlinks.push({ $typeName: "build.bazel.remote.execution.v2.SymlinkNode", name, target });
    } else {
      const digest = toMessage(keep(await readFile(path)));
      const isExecutable = ((await lstat(path)).mode & 0o100) !== 0;
      message.files.push({
        $typeName: "build.bazel.remote.execution.v2.FileNode",
        name,
        digest,
        isExecutable,
      });
    }
  }
  return message;
}
