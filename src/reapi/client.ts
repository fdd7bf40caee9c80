// Client of the Remote Execution API v2: capabilities, action cache, execution. cas-client.ts has the blobs. Used
// by remote execution and by the shared cache (src/cache/remote/reapi-backend.ts).
//
// Invariants:
// - Every call ends with its timeout and with `signal`. Transient errors are retried with backoff.
// - Headers may be credentials. They are sent to the configured server only and are in no message.
import { type Capabilities, readCapabilities } from "./capabilities.ts";
import { Channel, decode } from "./grpc/channel.ts";
import { CasClient } from "./cas-client.ts";
import { type Digest, toMessage } from "./digest.ts";
import type { Operation } from "./messages/operations.ts";
import { type ActionResult, ExecuteResponse, RequestMetadata } from "./messages/remote_execution.ts";
import {
  cancelOperation,
  execute,
  getActionResult,
  getCapabilities,
  updateActionResult,
  waitExecution,
} from "./grpc/methods.ts";
import { Code } from "./grpc/grpc-status.ts";
import {
  codeOf,
  isTransient,
  type Limits,
  backoff,
  RemoteError,
  retry,
  type RetryBudget,
} from "./grpc/retry.ts";

export interface ReapiEndpoint {
  /** `grpc://host:port`, or `grpcs://` over TLS. */
  readonly url: string;
  /** "" for none. */
  readonly instance: string;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Timeout of one call in milliseconds; execution has none. */
  readonly timeout: number;
  readonly toolVersion: string;
}

export interface ExecuteOptions {
  readonly skipCache: boolean;
  /** Cancels the action; the client's signal by default. */
  readonly signal?: AbortSignal;
  /** The server has accepted the action. May be called several times. */
  readonly onAccepted?: () => void;
}

const METADATA = "build.bazel.remote.execution.v2.requestmetadata-bin";
/** Milliseconds. */
const CANCEL_TIMEOUT = 1000;
const RESPONSE = /\/build\.bazel\.remote\.execution\.v2\.ExecuteResponse$/;

export class RemoteClient implements Disposable {
  readonly #endpoint: ReapiEndpoint;
  readonly #signal: AbortSignal;
  readonly #channel: Channel;
  readonly #limits: Required<Limits>;

  constructor(endpoint: ReapiEndpoint, signal: AbortSignal, budget: RetryBudget) {
    this.#endpoint = endpoint;
    this.#signal = signal;
    this.#limits = { timeout: endpoint.timeout, signal, budget };
    const metadata = RequestMetadata.encode({
      toolDetails: { toolName: "rt", toolVersion: endpoint.toolVersion },
      actionId: "",
      toolInvocationId: crypto.randomUUID(),
    }).finish();
    const metadataHeader = { [METADATA]: Buffer.from(metadata).toString("base64") };
    this.#channel = new Channel({ ...endpoint, headers: { ...endpoint.headers, ...metadataHeader } });
  }

  [Symbol.dispose](): void {
    this.#channel[Symbol.dispose]();
  }

  /** Connects to a server that can execute. Call it first. @throws RemoteError without execution or SHA-256 */
  async connect(): Promise<CasClient> {
    const { store, capabilities } = await this.connectCache();
    if (!capabilities.canExecute) throw new RemoteError("it is a cache without execution");
    return store;
  }

  /** Connects to a server that need not execute. */
  async connectCache(): Promise<{ readonly store: CasClient; readonly capabilities: Capabilities }> {
    const { instance } = this.#endpoint;
    const response = await retry(this.#limits, (options) =>
      this.#channel.call(getCapabilities, { instanceName: instance }, options),
    );
    const capabilities = readCapabilities(response);
    if (!capabilities.hasSha256) throw new RemoteError("it does not support SHA-256");
    return { store: new CasClient(this.#channel, instance, this.#limits, capabilities), capabilities };
  }

  /** Undefined if there is no result. @param inlineStdout whether the server may include stdout */
  async findResult(action: Digest, inlineStdout = false): Promise<ActionResult | undefined> {
    const request = {
      instanceName: this.#endpoint.instance,
      actionDigest: toMessage(action),
      inlineStdout,
    };
    try {
      return await retry(this.#limits, (options) => this.#channel.call(getActionResult, request, options));
    } catch (error) {
      if (codeOf(error) === Code.NOT_FOUND) return undefined;
      throw error;
    }
  }

  /** Stores a result. Its blobs have to be uploaded before. */
  async putResult(action: Digest, actionResult: ActionResult): Promise<void> {
    const request = {
      instanceName: this.#endpoint.instance,
      actionDigest: toMessage(action),
      actionResult,
    };
    await retry(this.#limits, (options) => this.#channel.call(updateActionResult, request, options));
  }

  /** Executes an action to its end, also across lost connections. @throws RemoteError */
  async execute(
    action: Digest,
    { skipCache, signal = this.#signal, onAccepted }: ExecuteOptions,
  ): Promise<ExecuteResponse> {
    signal.throwIfAborted();
    let name = "";
    const nameReceived = Promise.withResolvers<void>();
    const stream = new AbortController();
    let ending: Promise<void> | undefined;
    // The operation's name has to be known before it can be cancelled.
    const end = async () => {
      await Promise.race([nameReceived.promise, Bun.sleep(CANCEL_TIMEOUT)]);
      if (name !== "") await this.#cancel(name);
      stream.abort();
    };
    const cancel = () => void (ending = end());
    signal.addEventListener("abort", cancel, { once: true });
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          const request = {
            instanceName: this.#endpoint.instance,
            actionDigest: toMessage(action),
            skipCacheLookup: skipCache,
          };
          const options = { signal: stream.signal };
          const operations =
            name === ""
              ? this.#channel.stream(execute, request, options)
              : this.#channel.stream(waitExecution, { name }, options);
          for await (const operation of operations) {
            name = operation.name;
            nameReceived.resolve();
            onAccepted?.();
            if (operation.done) return responseOf(operation);
          }
          throw new RemoteError("the connection ended before the script did", Code.UNAVAILABLE);
        } catch (error) {
          const code = codeOf(error);
          signal.throwIfAborted();
          // The operation no longer exists: it was delivered already, or the server was replaced.
          const isLost = name !== "" && code === Code.NOT_FOUND;
          if (isLost) name = "";
          if (!(isLost || isTransient(code)) || !this.#limits.budget.take(attempt, "call")) throw error;
          await backoff(attempt, signal);
        }
      }
    } finally {
      signal.removeEventListener("abort", cancel);
      await ending;
    }
  }

  /** Cancels an operation, if the server supports it, with a short timeout. */
  async #cancel(name: string): Promise<void> {
    const limits = { timeout: CANCEL_TIMEOUT, signal: new AbortController().signal };
    await this.#channel.call(cancelOperation, { name }, limits).catch(() => {});
  }
}

function responseOf({ error, response }: Operation): ExecuteResponse {
  if (error) throw new RemoteError(error.message, error.code);
  if (!response || !RESPONSE.test(response.typeUrl))
    throw new RemoteError("the execution ended without a result");
  return decode(ExecuteResponse, response.value);
}
