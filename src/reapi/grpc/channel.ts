// gRPC channel: sends calls over HTTP/2 connections that are opened on demand and replaced when lost.
//
// Invariants: each call ends with its timeout and its signal. Errors are RemoteErrors with the server's code; the
// caller decides about retries.
//
// Non-obvious: written for rt, because the existing library takes longer to start than a run (figures in
// docs/architecture.md).
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { type ServerAddress, Http2Connection } from "./connection.ts";
import { GrpcCall } from "./grpc-call.ts";
import type { Codec, GrpcMethod } from "./methods.ts";
import { Code } from "./grpc-status.ts";
import { type Limits, RemoteError } from "./retry.ts";

export interface GrpcEndpoint extends ServerAddress {
  readonly headers: Readonly<Record<string, string>>;
}

export class Channel implements Disposable {
  readonly #endpoint: GrpcEndpoint;
  #connections: Http2Connection[] = [];
  #isClosed = false;

  constructor(endpoint: GrpcEndpoint) {
    this.#endpoint = endpoint;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const connection of this.#connections.splice(0)) connection.close();
  }

  async call<Request, Response>(
    method: GrpcMethod<Request, Response>,
    request: Request,
    limits: Limits,
  ): Promise<Response> {
    const grpcCall = this.#begin(method.path, limits);
    grpcCall.end(encode(method.request, request));
    return decode(method.response, await grpcCall.response());
  }

  async *stream<Request, Response>(
    method: GrpcMethod<Request, Response>,
    request: Request,
    limits: Limits,
  ): AsyncGenerator<Response, void> {
    const grpcCall = this.#begin(method.path, limits);
    grpcCall.end(encode(method.request, request));
    for await (const message of grpcCall.messages()) yield decode(method.response, message);
  }

  /** Client streaming: sends what `messages` yields, with backpressure. The response may arrive before the end. */
  async send<Request, Response>(
    method: GrpcMethod<Request, Response>,
    messages: AsyncIterable<Request>,
    limits: Limits,
  ): Promise<Response> {
    const grpcCall = this.#begin(method.path, limits);
    let failure: { readonly error: unknown } | undefined;
    grpcCall.send(encodeAll(method.request, messages)).catch((error: unknown) => {
      failure = { error };
      grpcCall.cancel();
    });
    try {
      return decode(method.response, await grpcCall.response());
    } catch (error) {
      throw failure ? failure.error : error;
    }
  }

  #begin(path: string, limits: Limits): GrpcCall {
    if (this.#isClosed) throw new RemoteError("the connection was closed", Code.UNAVAILABLE);
    this.#connections = this.#connections.filter(({ lost }) => !lost);
    let connection = this.#connections.find(({ takesCalls }) => takesCalls);
    if (!connection) this.#connections.push((connection = new Http2Connection(this.#endpoint)));
    return new GrpcCall(connection, path, this.#endpoint.headers, limits);
  }
}

function encode<Message>(codec: Codec<Message>, message: Message): Uint8Array {
  return codec.encode(message).finish();
}

async function* encodeAll<Message>(codec: Codec<Message>, messages: AsyncIterable<Message>) {
  for await (const message of messages) yield encode(codec, message);
}

/** @throws RemoteError unless the bytes are exactly one message */
export function decode<Message>(codec: Codec<Message>, bytes: Uint8Array): Message {
  const reader = new BinaryReader(bytes);
  let message;
  try {
    message = codec.decode(reader);
  } catch {}
  if (message && reader.pos === reader.len) return message;
  throw new RemoteError("it sent an invalid message", Code.INTERNAL, true);
}
