// Calls to a server that speaks gRPC, over connections that are made when they are needed, and made again when they are lost.
//
// Contract: each call ends with its time limit and with its signal. What goes wrong is a RemoteError, with the server's code;
// whether to try again is the caller's to say. It is written for rt, because the library that there is costs more than a run
// may: docs/architecture.md has the figures.
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

  async call<Request, Answer>(
    method: GrpcMethod<Request, Answer>,
    request: Request,
    limits: Limits,
  ): Promise<Answer> {
    const exchange = this.#begin(method.path, limits);
    exchange.end(encode(method.request, request));
    return decode(method.answer, await exchange.answer());
  }

  async *stream<Request, Answer>(
    method: GrpcMethod<Request, Answer>,
    request: Request,
    limits: Limits,
  ): AsyncGenerator<Answer, void> {
    const exchange = this.#begin(method.path, limits);
    exchange.end(encode(method.request, request));
    for await (const message of exchange.messages()) yield decode(method.answer, message);
  }

  /** Sends what `messages` yields, as fast as it is taken; an answer may come before its end. */
  async send<Request, Answer>(
    method: GrpcMethod<Request, Answer>,
    messages: AsyncIterable<Request>,
    limits: Limits,
  ): Promise<Answer> {
    const exchange = this.#begin(method.path, limits);
    let failure: { readonly error: unknown } | undefined;
    exchange.send(encodeAll(method.request, messages)).catch((error: unknown) => {
      failure = { error };
      exchange.cancel();
    });
    try {
      return decode(method.answer, await exchange.answer());
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

/** Throws RemoteError for what is none, or more than one. */
export function decode<Message>(codec: Codec<Message>, bytes: Uint8Array): Message {
  const reader = new BinaryReader(bytes);
  let message;
  try {
    message = codec.decode(reader);
  } catch {}
  if (message && reader.pos === reader.len) return message;
  throw new RemoteError("it sends what is no message", Code.INTERNAL, true);
}
