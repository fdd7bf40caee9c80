// A connection to a server that speaks gRPC: calls by the descriptors of their methods.
//
// Contract: each call ends with its time limit and with its signal. What goes wrong is a ServiceError of the library's, which
// has the server's code. Loaded by a run that asks for it: the library costs more than rt's whole start.
import {
  type CallOptions,
  type ChannelCredentials,
  Client,
  credentials,
  Metadata,
  type ServiceError,
} from "@grpc/grpc-js";
import {
  create,
  type DescMessage,
  type DescMethodClientStreaming,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { RemoteError } from "./trouble.ts";

export interface Endpoint {
  /** `grpc://host:port`, or `grpcs://` over TLS. */
  readonly url: string;
  /** PEM. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly headers: Readonly<Record<string, string | Uint8Array>>;
}

export interface Limits {
  /** Milliseconds; absent for as long as it takes. */
  readonly timeout?: number;
  readonly signal: AbortSignal;
}

/** Bytes. */
const LARGEST_MESSAGE = 64 << 20;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { "grpc:": "80", "grpcs:": "443" };

export class Channel implements Disposable {
  readonly #client: Client;
  readonly #metadata: Metadata;

  constructor({ url, tls, headers }: Endpoint) {
    const { protocol, hostname, port } = new URL(url);
    this.#client = new Client(
      `${hostname}:${port || DEFAULT_PORTS[protocol]}`,
      credentialsFor(protocol, tls),
      {
        "grpc.max_receive_message_length": LARGEST_MESSAGE,
        "grpc.max_send_message_length": LARGEST_MESSAGE,
        // Whether to try again is the caller's to say.
        "grpc.enable_retries": 0,
      },
    );
    this.#metadata = new Metadata();
    for (const [key, value] of Object.entries(headers))
      this.#metadata.set(key, typeof value === "string" ? value : Buffer.from(value));
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    limits: Limits,
  ): Promise<MessageShape<O>> {
    const { promise, resolve, reject } = Promise.withResolvers<MessageShape<O>>();
    const call = this.#client.makeUnaryRequest(
      pathOf(method),
      serializer(method.input),
      deserializer(method.output),
      create(method.input, request),
      this.#metadata,
      optionsFor(limits),
      settle(resolve, reject),
    );
    return await cancelled(call, limits.signal, promise);
  }

  async *stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    limits: Limits,
  ): AsyncGenerator<MessageShape<O>, void> {
    const call = this.#client.makeServerStreamRequest(
      pathOf(method),
      serializer(method.input),
      deserializer(method.output),
      create(method.input, request),
      this.#metadata,
      optionsFor(limits),
    );
    const cancel = () => call.cancel();
    limits.signal.addEventListener("abort", cancel, { once: true });
    try {
      for await (const message of call) yield message as MessageShape<O>;
    } finally {
      limits.signal.removeEventListener("abort", cancel);
      call.on("error", () => {}); // of what is cancelled here, which nobody waits for
      call.cancel();
    }
  }

  /** Sends what `messages` yields, as fast as it is taken; an answer may come before its end. */
  async send<I extends DescMessage, O extends DescMessage>(
    method: DescMethodClientStreaming<I, O>,
    messages: AsyncIterable<MessageInitShape<I>>,
    limits: Limits,
  ): Promise<MessageShape<O>> {
    const { promise, resolve, reject } = Promise.withResolvers<MessageShape<O>>();
    let isOver = false;
    const call = this.#client.makeClientStreamRequest(
      pathOf(method),
      serializer(method.input),
      deserializer(method.output),
      this.#metadata,
      optionsFor(limits),
      settle(resolve, reject),
    );
    const whenOver = promise.then(
      () => void (isOver = true),
      () => void (isOver = true),
    );
    const write = async () => {
      for await (const message of messages) {
        if (isOver) return;
        const isFull = !call.write(create(method.input, message));
        if (isFull) await Promise.race([new Promise((drained) => call.once("drain", drained)), whenOver]);
      }
      call.end();
    };
    write().catch((error: unknown) => {
      reject(error);
      call.cancel();
    });
    return await cancelled(call, limits.signal, promise);
  }
}

function credentialsFor(protocol: string, { ca, cert, key }: Endpoint["tls"]): ChannelCredentials {
  if (protocol !== "grpcs:") return credentials.createInsecure();
  const [root, secret, chain] = [ca, key, cert].map((text) =>
    text === undefined ? null : Buffer.from(text),
  );
  try {
    return credentials.createSsl(root, secret, chain);
  } catch (error) {
    throw new RemoteError(`the certificates cannot be used: ${(error as Error).message}`);
  }
}

function pathOf({ parent, name }: { parent: { typeName: string }; name: string }): string {
  return `/${parent.typeName}/${name}`;
}

function serializer<Schema extends DescMessage>(schema: Schema) {
  return (message: MessageShape<Schema>) => Buffer.from(toBinary(schema, message));
}

function deserializer<Schema extends DescMessage>(schema: Schema) {
  return (bytes: Buffer) => fromBinary(schema, bytes);
}

function optionsFor({ timeout }: Limits): CallOptions {
  return timeout === undefined ? {} : { deadline: Date.now() + timeout };
}

function settle<Answer>(resolve: (answer: Answer) => void, reject: (error: ServiceError) => void) {
  return (error: ServiceError | null, answer?: Answer) => (error ? reject(error) : resolve(answer!));
}

async function cancelled<Answer>(
  call: { cancel(): void },
  signal: AbortSignal,
  answer: Promise<Answer>,
): Promise<Answer> {
  const cancel = () => call.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await answer;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
