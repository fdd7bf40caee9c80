// gRPC calls over rt's channel, with servers that use the engine's HTTP/2 or raw frames.
import { describe, expect, spyOn, test } from "bun:test";
import http2, { type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { Channel } from "../../src/reapi/grpc/channel.ts";
import { Http2Connection, type ConnectionTimeouts } from "../../src/reapi/grpc/connection.ts";
import { FrameReader, frame } from "../../src/reapi/grpc/grpc-frames.ts";
import { findMissingBlobs, readBytes, writeBytes } from "../../src/reapi/grpc/methods.ts";
import { Code, nameOf } from "../../src/reapi/grpc/grpc-status.ts";
import { codeOf } from "../../src/reapi/grpc/retry.ts";
import { waitUntil } from "../support/processes.ts";

const GRPC = { ":status": 200, "content-type": "application/grpc" };
/** A message with this number of bytes. The empty message is a valid response of each method. */
const DATA = (length: number) =>
  Buffer.concat([Buffer.from([0x52]), varint(length), Buffer.alloc(length, "x")]);

function varint(value: number): Buffer {
  const bytes = [];
  for (let rest = value; ; rest >>>= 7) {
    bytes.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) return Buffer.from(bytes);
  }
}

type Answer = (stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => unknown;

async function serve(answer: Answer, options: http2.ServerOptions = {}) {
  const sessions: ServerHttp2Session[] = [];
  const server = http2.createServer(options);
  server.on("session", (session) => {
    sessions.push(session);
    session.on("error", () => {});
  });
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    stream.on("error", () => {});
    void answer(stream, headers);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `grpc://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    sessions,
    [Symbol.dispose]() {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

/** A server that sends a settings frame, and passes each received frame to `answer`. */
function serveFrames(answer: (type: number, stream: number, socket: Bun.Socket) => void) {
  const received = new WeakMap<object, Buffer>();
  const PREFACE = 24;
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        received.set(socket, Buffer.alloc(0));
        socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
      },
      data(socket, chunk) {
        let rest = Buffer.concat([received.get(socket)!, chunk]);
        if (rest.subarray(0, 3).toString() === "PRI") {
          if (rest.length < PREFACE) return void received.set(socket, rest);
          rest = rest.subarray(PREFACE);
        }
        while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
          answer(rest[3]!, rest[8]!, socket);
          rest = rest.subarray(9 + rest.readUIntBE(0, 3));
        }
        received.set(socket, rest);
      },
    },
  });
  return {
    url: `grpc://127.0.0.1:${server.port}`,
    [Symbol.dispose]: () => server.stop(true),
  };
}

const open = (url: string, headers = {}) => new Channel({ url, tls: {}, headers });
const limits = (timeout?: number, signal = new AbortController().signal) => ({
  signal,
  ...(timeout !== undefined && { timeout }),
});
const sendCall = (channel: Channel, more = limits()) =>
  channel.call(findMissingBlobs, { instanceName: "i", blobDigests: [] }, more);

async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "OK";
  } catch (error) {
    const code = codeOf(error);
    return `${code === undefined ? (error as Error).name : nameOf(code)}: ${(error as Error).message}`;
  }
}

/** Sends a complete response with this status in the trailers. */
function finish(
  stream: ServerHttp2Stream,
  status: Record<string, string>,
  messages = [frame(Buffer.alloc(0))],
) {
  stream.respond(GRPC, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers(status));
  for (const message of messages) stream.write(message);
  stream.end();
}

describe("outcome of a call", () => {
  const OK = { "grpc-status": "0" };
  const cases: [string, Answer, string][] = [
    ["success", (stream) => finish(stream, OK), "OK"],
    [
      "a failure in the trailers",
      (stream) => finish(stream, { "grpc-status": "8", "grpc-message": "no room, 100%25: %E2%82%AC %zz %4" }),
      "RESOURCE_EXHAUSTED: no room, 100%: \u20ac %zz %4",
    ],
    [
      "a failure in the headers",
      (stream) =>
        stream.respond({ ...GRPC, "grpc-status": "16", "grpc-message": "who?" }, { endStream: true }),
      "UNAUTHENTICATED: who?",
    ],
    [
      "a gRPC status in the headers and an HTTP error",
      (stream) => stream.respond({ ":status": 503, "grpc-status": "7" }, { endStream: true }),
      "PERMISSION_DENIED: ",
    ],
    ["an unknown code", (stream) => finish(stream, { "grpc-status": "99" }), "99: "],
    ["an invalid code", (stream) => finish(stream, { "grpc-status": "-1" }), "UNKNOWN: "],
    ["success without a response", (stream) => finish(stream, OK, []), "INTERNAL: it sent no response"],
    [
      "success with two responses",
      (stream) => finish(stream, OK, [frame(Buffer.alloc(0)), frame(Buffer.alloc(0))]),
      "INTERNAL: it sent more than one response",
    ],
    [
      "half a message",
      (stream) => finish(stream, OK, [frame(Buffer.alloc(0)), frame(Buffer.alloc(9)).subarray(0, 8)]),
      "INTERNAL: it sent an incomplete message",
    ],
    [
      "an invalid message",
      (stream) => finish(stream, OK, [frame(Buffer.from([0x0a, 0x7f]))]),
      "INTERNAL: it sent an invalid message",
    ],
    [
      "a message with excess bytes",
      (stream) => finish(stream, OK, [frame(Buffer.from([0, 1]))]),
      "INTERNAL: it sent an invalid message",
    ],
    [
      "a compressed message",
      (stream) => finish(stream, OK, [Buffer.from([1, 0, 0, 0, 1, 0])]),
      "INTERNAL: it sent a compressed message",
    ],
    [
      "a message of 4 GiB",
      (stream) => finish(stream, OK, [Buffer.from([0, 255, 255, 255, 255, 0])]),
      "INTERNAL: it sent a message of 4294967295 bytes",
    ],
    [
      "trailers without a status",
      (stream) => finish(stream, { "x-other": "1" }),
      "UNAVAILABLE: it reset the stream (HTTP/2 error 0)",
    ],
    [
      "an HTML page",
      (stream) => stream.respond({ ":status": 200, "content-type": "text/html" }, { endStream: true }),
      "UNKNOWN: the response is not gRPC",
    ],
    ...(
      [
        [400, "INTERNAL"],
        [401, "UNAUTHENTICATED"],
        [403, "PERMISSION_DENIED"],
        [404, "UNIMPLEMENTED"],
        [429, "UNAVAILABLE"],
        [502, "UNAVAILABLE"],
        [503, "UNAVAILABLE"],
        [504, "UNAVAILABLE"],
        [500, "UNKNOWN"],
      ] as const
    ).map(([status, name]): [string, Answer, string] => [
      `HTTP ${status}`,
      (stream) => stream.respond({ ":status": status }, { endStream: true }),
      `${name}: it responded with HTTP ${status}`,
    ]),
  ];
  test.each(cases)("the server sends %s", async (_, answer, outcome) => {
    using server = await serve(answer);
    using channel = open(server.url);
    expect(await outcomeOf(sendCall(channel))).toBe(outcome);
  });

  test.each([
    [0, "UNAVAILABLE"],
    [2, "INTERNAL"],
    [7, "UNAVAILABLE"],
    [8, "CANCELLED"],
    [11, "RESOURCE_EXHAUSTED"],
    [12, "PERMISSION_DENIED"],
  ])("the server resets the stream with HTTP/2 error %d", async (error, name) => {
    using server = serveFrames((type, stream, socket) => {
      if (type !== 1) return;
      const reset = Buffer.from([0, 0, 4, 3, 0, 0, 0, 0, stream, 0, 0, 0, error]);
      socket.write(reset);
    });
    using channel = open(server.url);
    expect(await outcomeOf(sendCall(channel))).toBe(`${name}: it reset the stream (HTTP/2 error ${error})`);
  });

  test("a status counts even if the connection closes right after it, and a closed connection without status is UNAVAILABLE", async () => {
    const answered: Answer = (stream) => {
      stream.respond({ ...GRPC, "grpc-status": "7", "grpc-message": "no" }, { endStream: true });
      stream.session!.destroy();
    };
    const silent: Answer = (stream) => stream.session!.destroy();
    const half: Answer = (stream) => {
      stream.respond(GRPC);
      stream.write(frame(Buffer.alloc(0)), () => stream.session!.destroy());
    };
    // :status 200, grpc-status 7, and no end of the stream.
    const head = Buffer.from(`\x88\0\x0bgrpc-status\x017`, "latin1");
    const reset = Buffer.from([0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 2]);
    for (const isReset of [true, false]) {
      using server = serveFrames((type, stream, socket) => {
        if (type !== 1) return;
        socket.write(Buffer.concat([Buffer.from([0, 0, head.length, 1, 4, 0, 0, 0, stream]), head]));
        if (isReset) socket.write(reset);
        else socket.end();
      });
      using channel = open(server.url);
      expect(await outcomeOf(sendCall(channel))).toBe("PERMISSION_DENIED: ");
    }
    for (const cut of ["end", "terminate"] as const) {
      using server = serveFrames((type, _, socket) => {
        if (type === 1) socket[cut]();
      });
      using channel = open(server.url);
      expect(await outcomeOf(sendCall(channel))).toStartWith("UNAVAILABLE: ");
    }
    // The same if rt closes the connection. The reply to the ping proves that rt has read the headers.
    const received = Promise.withResolvers<void>();
    const ping = Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0, ...Buffer.alloc(8)]);
    using server = serveFrames((type, stream, socket) => {
      if (type === 6) received.resolve();
      if (type !== 1) return;
      socket.write(Buffer.concat([Buffer.from([0, 0, head.length, 1, 4, 0, 0, 0, stream]), head, ping]));
    });
    const channel = open(server.url);
    const outcome = outcomeOf(sendCall(channel));
    await received.promise;
    channel[Symbol.dispose]();
    expect(await outcome).toBe("PERMISSION_DENIED: ");
    for (const [answer, outcome] of [
      [answered, "PERMISSION_DENIED"],
      [silent, "UNAVAILABLE"],
      [half, "UNAVAILABLE"],
    ] as const) {
      using server = await serve(answer);
      using channel = open(server.url);
      expect((await outcomeOf(sendCall(channel))).split(":")[0]).toBe(outcome);
    }
  });
});

test("a call sends its method and deadline, and configured headers are never indexed by HPACK", async () => {
  const { promise, resolve } = Promise.withResolvers<http2.IncomingHttpHeaders>();
  using server = await serve((stream, headers) => {
    resolve(headers);
    finish(stream, { "grpc-status": "0" });
  });
  using channel = open(server.url, { "x-key": "s3cret-t0ken", te: "gzip", ":path": "/other" });
  expect(await sendCall(channel, limits(1500.5))).toEqual({ missingBlobDigests: [] });
  const headers = await promise;
  expect(headers).toMatchObject({
    ":method": "POST",
    ":path": findMissingBlobs.path,
    te: "trailers",
    "content-type": "application/grpc",
    "grpc-timeout": "1501m",
    "x-key": "s3cret-t0ken",
  });
  expect(headers[http2.sensitiveHeaders as unknown as string]).toContain("x-key");
});

describe("end of a call", () => {
  test("a call ends at its time limit or when it is aborted, and does not start when it was aborted before", async () => {
    const streams: ServerHttp2Stream[] = [];
    using server = await serve((stream) => void streams.push(stream));
    using channel = open(server.url);
    expect(await outcomeOf(sendCall(channel, limits(50)))).toBe(
      "DEADLINE_EXCEEDED: no response within 0.05 s",
    );
    const controller = new AbortController();
    const call = outcomeOf(sendCall(channel, limits(undefined, controller.signal)));
    await waitUntil(() => streams.length === 2);
    controller.abort();
    expect(await call).toBe("CANCELLED: it was cancelled");
    expect(await outcomeOf(sendCall(channel, limits(undefined, controller.signal)))).toBe(
      "CANCELLED: it was cancelled",
    );
    // The server receives a reset of each stream.
    await waitUntil(() => streams.every(({ closed }) => closed));
    expect(streams.map(({ rstCode }) => rstCode)).toEqual([8, 8]);
    // A client that stops reading resets the stream.
    const far = new AbortController();
    const listening = channel.stream(readBytes, REQUEST, limits(2 ** 40, far.signal));
    const first = listening.next();
    await waitUntil(() => streams.length === 3);
    streams[2]!.respond(GRPC);
    streams[2]!.write(frame(DATA(3)));
    expect((await first).value).toEqual({ data: expect.any(Uint8Array) });
    await listening.return();
    await waitUntil(() => streams[2]!.closed);
  });

  test("calls fail when the connection is lost, and the next call opens a new one", async () => {
    let isWell = false;
    using server = await serve((stream) => {
      if (isWell) finish(stream, { "grpc-status": "0" });
    });
    using channel = open(server.url);
    const calls = [sendCall(channel), sendCall(channel)].map(outcomeOf);
    await waitUntil(() => server.sessions.length === 1);
    await waitUntil(() => server.sessions[0]!.state.nextStreamID !== undefined);
    server.sessions[0]!.destroy();
    for (const outcome of await Promise.all(calls)) expect(outcome).toStartWith("UNAVAILABLE: ");
    isWell = true;
    expect(await outcomeOf(sendCall(channel))).toBe("OK");
    expect(server.sessions.length).toBe(2);
    channel[Symbol.dispose]();
    expect(await outcomeOf(sendCall(channel))).toBe("UNAVAILABLE: the connection was closed");
    await waitUntil(() => server.sessions[1]!.destroyed);
  });

  test("a call continues after GOAWAY, and the next call opens a new connection", async () => {
    const held: ServerHttp2Stream[] = [];
    using server = await serve((stream) => {
      if (server.sessions.length > 1) finish(stream, { "grpc-status": "0" });
      else held.push(stream);
    });
    using channel = open(server.url);
    const first = outcomeOf(sendCall(channel));
    await waitUntil(() => held.length === 1);
    server.sessions[0]!.goaway(0, held[0]!.id);
    // Calls use the first connection until rt has received the frame.
    while (server.sessions.length < 2) await outcomeOf(sendCall(channel, limits(20)));
    finish(held[0]!, { "grpc-status": "0" });
    expect(await first).toBe("OK");
    expect(await outcomeOf(sendCall(channel))).toBe("OK");
    expect(server.sessions.length).toBe(2);
  });
});

test("a channel opens more connections when the server limits concurrent streams", async () => {
  const streams: ServerHttp2Stream[] = [];
  let isHeld = false;
  const answer: Answer = (stream) =>
    isHeld ? void streams.push(stream) : finish(stream, { "grpc-status": "0" });
  using server = await serve(answer, { settings: { maxConcurrentStreams: 2 } });
  using channel = open(server.url);
  await sendCall(channel); // now the client has received the limit
  isHeld = true;
  const calls: Promise<unknown>[] = [];
  for (let count = 1; count <= 5; count++) {
    calls.push(sendCall(channel));
    await waitUntil(() => streams.length === count);
  }
  for (const stream of streams) finish(stream, { "grpc-status": "0" });
  await Promise.all(calls);
  expect(server.sessions.length).toBe(3);
});

describe("loss of a connection", () => {
  const PATIENCE: ConnectionTimeouts = { connect: 60_000, ping: 60_000, pong: 60_000 };
  const lost = async (url: string, patience: Partial<ConnectionTimeouts>, begins: boolean) => {
    const connection = new Http2Connection({ url, tls: {} }, { ...PATIENCE, ...patience });
    const statuses: unknown[] = [];
    const follower = { lose: (status: unknown) => void statuses.push(status) };
    if (begins) connection.open({ ":method": "POST", ":path": "/x" }, [], follower).on("error", () => {});
    await waitUntil(() => connection.lost !== undefined);
    expect(statuses).toEqual(begins ? [connection.lost] : []);
    expect(connection.takesCalls).toBe(false);
    return connection.lost;
  };

  test("a connection is lost when it cannot be established", async () => {
    using silent = Bun.listen({ hostname: "localhost", port: 0, socket: { data() {} } });
    expect(await lost(`grpcs://localhost:${silent.port}`, { connect: 20 }, true)).toEqual({
      code: Code.UNAVAILABLE,
      message: "it does not respond",
    });
    expect(await lost("grpc://127.0.0.1:1", {}, false)).toMatchObject({ code: Code.UNAVAILABLE });
  });

  test("a connection is lost when a ping is unanswered, but not while pings are answered", async () => {
    using deaf = serveFrames(() => {});
    expect(await lost(deaf.url, { ping: 20, pong: 20 }, true)).toEqual({
      code: Code.UNAVAILABLE,
      message: "it no longer responds",
    });
    let pings = 0;
    using server = await serve(() => {});
    const connection = new Http2Connection({ url: server.url, tls: {} }, { ...PATIENCE, ping: 5 });
    const follower = { lose() {} };
    const stream = connection.open({ ":method": "POST", ":path": "/x" }, [], follower);
    stream.on("error", () => {});
    await waitUntil(() => server.sessions.length === 1);
    server.sessions[0]!.on("ping", () => pings++);
    await waitUntil(() => pings > 3);
    expect(connection.lost).toBeUndefined();
    connection.close();
  });
});

const REQUEST = { resourceName: "x", readOffset: 0n, readLimit: 0n };
const PIECE = 1 << 20;
const PIECES = 64;
/** The limit of MiB in flight: in windows and in the buffers of sockets and streams. */
const MOST_AHEAD = 12;

/** Waits until the count is unchanged for many turns of the event loop. */
async function untilStill(count: () => number): Promise<void> {
  for (let turn = 0, last = -1; turn < 300; turn++) {
    if (count() !== last) [last, turn] = [count(), 0];
    await new Promise((next) => setImmediate(next));
  }
}

describe("backpressure", () => {
  test("a slow server limits the sending client", async () => {
    let sent = 0;
    let taken = 0;
    let ahead = 0;
    using server = await serve(async (stream) => {
      for await (const chunk of stream) {
        taken += (chunk as Buffer).length;
        ahead = Math.max(ahead, sent - taken / PIECE);
        await new Promise((next) => setImmediate(next));
      }
      finish(stream, { "grpc-status": "0" });
    });
    using channel = open(server.url);
    async function* pieces() {
      for (; sent < PIECES; sent++)
        yield { resourceName: "", writeOffset: 0n, finishWrite: false, data: Buffer.alloc(PIECE) };
    }
    await channel.send(writeBytes, pieces(), limits());
    expect(taken).toBeGreaterThan(PIECES * PIECE);
    expect(ahead).toBeLessThan(MOST_AHEAD);
  });

  test("a slow client limits the sending server", async () => {
    let sent = 0;
    using server = await serve(async (stream) => {
      stream.respond(GRPC, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      const message = frame(DATA(PIECE));
      for (; sent < PIECES; sent++)
        if (!stream.write(message)) await new Promise((drained) => stream.once("drain", drained));
      stream.end();
    });
    using channel = open(server.url);
    let taken = 0;
    let ahead = 0;
    for await (const { data } of channel.stream(readBytes, REQUEST, limits())) {
      expect(data.length).toBe(PIECE);
      if (++taken === 1) await untilStill(() => sent);
      ahead = Math.max(ahead, sent - taken);
    }
    expect(taken).toBe(PIECES);
    expect(ahead).toBeLessThan(MOST_AHEAD);
  });

  test("an early response ends the sending, and an error of the source fails the call", async () => {
    using server = await serve((stream) => stream.once("data", () => finish(stream, { "grpc-status": "0" })));
    using channel = open(server.url);
    let isEnded = false;
    async function* pieces() {
      try {
        for (;;) yield { resourceName: "", writeOffset: 0n, finishWrite: false, data: Buffer.alloc(PIECE) };
      } finally {
        isEnded = true;
      }
    }
    expect(await channel.send(writeBytes, pieces(), limits())).toEqual({ committedSize: 0n });
    await waitUntil(() => isEnded);
    // The call fails with the error of the source.
    async function* broken() {
      yield { resourceName: "", writeOffset: 0n, finishWrite: false, data: Buffer.alloc(0) };
      throw new Error("cannot read");
    }
    using other = await serve(() => {});
    using second = open(other.url);
    expect(await outcomeOf(second.send(writeBytes, broken(), limits()))).toBe("Error: cannot read");
  });
});

test("a frame reader returns complete messages, whatever the chunk size", () => {
  const sizes = [0, 1, 5, 300, 70_000];
  const bytes = Buffer.concat(sizes.map((size) => frame(Buffer.alloc(size, size))));
  for (const step of [1, 4, 5, 6, 1000, bytes.length]) {
    const reader = new FrameReader(70_000);
    const read: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += step) {
      reader.push(bytes.subarray(at, at + step));
      for (let message = reader.next(); message; message = reader.next()) read.push(message);
    }
    expect(read.map(({ length }) => length)).toEqual(sizes);
    expect(read.every((message, at) => message.every((byte) => byte === (sizes[at]! & 255)))).toBe(true);
    expect(reader.isPartial).toBe(false);
  }
  const reader = new FrameReader(10);
  reader.push(frame(Buffer.alloc(11)).subarray(0, 5));
  expect(() => reader.next()).toThrow("it sent a message of 11 bytes");
});

test("a completed call releases its stream and its abort listener", async () => {
  using server = await serve((stream) => finish(stream, { "grpc-status": "0" }), {
    settings: { maxConcurrentStreams: 2 },
  });
  using channel = open(server.url);
  const { signal } = new AbortController();
  const added = spyOn(signal, "addEventListener");
  const removed = spyOn(signal, "removeEventListener");
  for (let call = 0; call < 6; call += 1) await sendCall(channel, limits(undefined, signal));
  expect(server.sessions).toHaveLength(1);
  const listeners = (calls: readonly unknown[][]) => new Set(calls.map(([, listener]) => listener));
  expect(listeners(added.mock.calls).size).toBe(6);
  expect(listeners(removed.mock.calls)).toEqual(listeners(added.mock.calls));
});

test("a stream of which only the last message was read ends without a reset", async () => {
  let held: ServerHttp2Stream | undefined;
  using server = await serve((stream, headers) => {
    if (headers[":path"] !== readBytes.path) return finish(stream, { "grpc-status": "0" });
    held = stream;
    stream.respond(GRPC, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.write(frame(DATA(3)));
  });
  using channel = open(server.url);
  for await (const _ of channel.stream(readBytes, REQUEST, limits())) break;
  // This call proves that the client has received everything sent before.
  await sendCall(channel);
  expect([held!.closed, held!.rstCode]).toEqual([false, 0]);
  const { promise, resolve } = Promise.withResolvers<void>();
  held!.once("close", resolve);
  held!.end();
  await promise;
  expect(held!.rstCode).toBe(0);
});

test("a stream is reset when the client stops reading before its end", async () => {
  const resets: (number | undefined)[] = [];
  using server = await serve(async (stream) => {
    stream.on("close", () => resets.push(stream.rstCode));
    stream.respond(GRPC);
    while (!stream.destroyed && stream.write(frame(DATA(3)))) await new Promise((next) => setImmediate(next));
  });
  using channel = open(server.url);
  for await (const _ of channel.stream(readBytes, REQUEST, limits())) break;
  await waitUntil(() => resets.length === 1);
  expect(resets).toEqual([8]);
});
