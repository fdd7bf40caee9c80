// A simulated cluster of the Remote Execution API, with as many machines as the argument says. On each machine a script takes a
// fixed time and creates one file; nothing is executed.
//
// It does as little work as possible, with rt's own messages, since the client is measured. Prints its address, and at the end of
// its input the largest number of busy machines.
import type { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import http2, { type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { decode } from "../../src/reapi/grpc/channel.ts";
import { digestOf, toMessage } from "../../src/reapi/digest.ts";
import { frame, FrameReader } from "../../src/reapi/grpc/grpc-frames.ts";
import { ActionResult, ExecuteResponse } from "../../src/reapi/messages/remote_execution.ts";
import * as methods from "../../src/reapi/grpc/methods.ts";
import { Code } from "../../src/reapi/grpc/grpc-status.ts";

const [machines, duration] = process.argv.slice(2).map(Number) as [number, number];
const GRPC = { ":status": 200, "content-type": "application/grpc" };
const RESPONSE = "type.googleapis.com/build.bazel.remote.execution.v2.ExecuteResponse";
const EMPTY = ActionResult.decode(new Uint8Array());
const known = new Set<string>();
const made = new Map<string, Uint8Array>();
const waiting: (() => void)[] = [];
let busy = 0;
let most = 0;
let count = 0;

type Handler = (message: Uint8Array, stream: ServerHttp2Stream) => void;

interface Codec<Message> {
  encode(message: Message): BinaryWriter;
  decode(bytes: BinaryReader): Message;
}

function send<Message>(stream: ServerHttp2Stream, codec: Codec<Message>, message: Message): void {
  stream.write(frame(codec.encode(message).finish()));
}

function finish(stream: ServerHttp2Stream): void {
  stream.end();
}

function unary<Request, Answer>(
  { path, request, response }: methods.GrpcMethod<Request, Answer>,
  handle: (request: Request) => Answer,
): [string, Handler] {
  return [
    path,
    (message, stream) => {
      send(stream, response, handle(decode(request, message)));
      finish(stream);
    },
  ];
}

function execute(stream: ServerHttp2Stream): void {
  busy++;
  most = Math.max(most, busy);
  const bytes = Buffer.from(`made by script ${count++}\n`);
  setTimeout(() => {
    busy--;
    waiting.shift()?.();
    const digest = digestOf(bytes);
    made.set(digest.hash, bytes);
    const outputFiles = [{ path: "made.txt", digest: toMessage(digest), isExecutable: false }];
    const result = { ...EMPTY, outputFiles, stdoutRaw: bytes };
    const value = ExecuteResponse.encode({ result, cachedResult: false, status: undefined, message: "" });
    send(stream, methods.execute.response, {
      name: "operation",
      metadata: undefined,
      done: true,
      error: undefined,
      response: { typeUrl: RESPONSE, value: value.finish() },
    });
    finish(stream);
  }, duration);
}

const handlers = new Map<string, Handler>([
  unary(methods.getCapabilities, () => ({
    cacheCapabilities: {
      digestFunctions: [1],
      actionCacheUpdateCapabilities: undefined,
      maxBatchTotalSizeBytes: 4n << 20n,
      supportedCompressors: [],
      supportedBatchUpdateCompressors: [],
    },
    executionCapabilities: { execEnabled: true },
  })),
  unary(methods.findMissingBlobs, ({ blobDigests }) => ({
    missingBlobDigests: blobDigests.filter(({ hash }) => !known.has(hash)),
  })),
  unary(methods.batchUpdateBlobs, ({ requests }) => ({
    responses: requests.map(({ digest }) => {
      known.add(digest!.hash);
      return { digest, status: undefined };
    }),
  })),
  [
    methods.execute.path,
    (_, stream) => {
      send(stream, methods.execute.response, {
        name: "operation",
        metadata: undefined,
        done: false,
        error: undefined,
        response: undefined,
      });
      if (busy < machines) execute(stream);
      else waiting.push(() => execute(stream));
    },
  ],
  [
    methods.readBytes.path,
    (message, stream) => {
      const { resourceName } = decode(methods.readBytes.request, message);
      const [hash] = /[\da-f]{64}/.exec(resourceName)!;
      send(stream, methods.readBytes.response, { data: made.get(hash)! });
      made.delete(hash);
      finish(stream);
    },
  ],
]);

const server = http2.createServer();
server.on("stream", (stream: ServerHttp2Stream, headers) => {
  const handle = handlers.get(headers[":path"]!);
  if (!handle) {
    const code = headers[":path"] === methods.getActionResult.path ? Code.NOT_FOUND : Code.UNIMPLEMENTED;
    stream.on("end", () => stream.respond({ ...GRPC, "grpc-status": String(code) }, { endStream: true }));
    stream.resume();
    return;
  }
  stream.respond(GRPC, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  const reader = new FrameReader(64 << 20);
  stream.on("data", (chunk: Buffer) => {
    reader.push(chunk);
    const message = reader.next();
    if (message) handle(message, stream);
  });
});
server.listen(0, "127.0.0.1", () =>
  console.log(`grpc://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
for await (const _ of Bun.stdin.stream());
console.log(JSON.stringify({ most, count }));
process.exit(0);
