// A client of the Remote Execution API v2: capabilities, results of actions, execution; cas-client.ts has the rest. Who runs
// scripts elsewhere uses it, and who shares what they have made (src/cache/remote/reapi-backend.ts).
//
// Contract: nothing lasts longer than its time limit, and all of it ends with `signal`. What a server may answer otherwise a
// moment later (unreachable, out of resources) is asked again, a few times. Headers, which may be credentials, go to the server that was named and no other,
// and are in no message.
import { type Abilities, readCapabilities } from "./capabilities.ts";
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
import { codeOf, isTransient, type Limits, backoff, RemoteError, retry, TRIES } from "./grpc/retry.ts";

export interface ReapiEndpoint {
  /** `grpc://host:port`, or `grpcs://` over TLS. */
  readonly url: string;
  /** "" for none. */
  readonly instance: string;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Of one call, in milliseconds; execution may take as long as it takes. */
  readonly timeout: number;
  readonly toolVersion: string;
}

export interface ExecuteOptions {
  readonly skipCache: boolean;
  /** Cancels the action; that of the client unless given. */
  readonly signal?: AbortSignal;
  /** The server has it. Called once or more. */
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

  constructor(endpoint: ReapiEndpoint, signal: AbortSignal) {
    this.#endpoint = endpoint;
    this.#signal = signal;
    this.#limits = { timeout: endpoint.timeout, signal };
    const metadata = RequestMetadata.encode({
      toolDetails: { toolName: "rt", toolVersion: endpoint.toolVersion },
      actionId: "",
      toolInvocationId: crypto.randomUUID(),
    }).finish();
    const named = { [METADATA]: Buffer.from(metadata).toString("base64") };
    this.#channel = new Channel({ ...endpoint, headers: { ...endpoint.headers, ...named } });
  }

  [Symbol.dispose](): void {
    this.#channel[Symbol.dispose]();
  }

  /** To be called first: what the server keeps. Throws RemoteError for a server that cannot execute, or knows no SHA-256. */
  async connect(): Promise<CasClient> {
    const { store, abilities } = await this.connectCache();
    if (!abilities.executes) throw new RemoteError("it does not execute, it only keeps");
    return store;
  }

  /** The same of a server that need not execute. */
  async connectCache(): Promise<{ readonly store: CasClient; readonly abilities: Abilities }> {
    const { instance } = this.#endpoint;
    const answer = await retry(this.#limits, (options) =>
      this.#channel.call(getCapabilities, { instanceName: instance }, options),
    );
    const abilities = readCapabilities(answer);
    if (!abilities.knowsSha256) throw new RemoteError("it does not know SHA-256");
    return { store: new CasClient(this.#channel, instance, this.#limits, abilities), abilities };
  }

  /** Undefined where there is none. @param inlineStdout whether its output may come with it, if the server likes */
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

  /** What the result names is to be there before. */
  async putResult(action: Digest, actionResult: ActionResult): Promise<void> {
    const request = {
      instanceName: this.#endpoint.instance,
      actionDigest: toMessage(action),
      actionResult,
    };
    await retry(this.#limits, (options) => this.#channel.call(updateActionResult, request, options));
  }

  /** Runs an action to its end, across lost connections. Throws RemoteError when it cannot. */
  async execute(
    action: Digest,
    { skipCache, signal = this.#signal, onAccepted }: ExecuteOptions,
  ): Promise<ExecuteResponse> {
    signal.throwIfAborted();
    let name = "";
    const named = Promise.withResolvers<void>();
    const stream = new AbortController();
    let ending: Promise<void> | undefined;
    // What it is called there has to be known before it can be cancelled there.
    const end = async () => {
      await Promise.race([named.promise, Bun.sleep(CANCEL_TIMEOUT)]);
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
            named.resolve();
            onAccepted?.();
            if (operation.done) return responseOf(operation);
          }
          throw new RemoteError("the connection ended before the script did", Code.UNAVAILABLE);
        } catch (error) {
          const code = codeOf(error);
          signal.throwIfAborted();
          // An operation that was delivered, or whose server is another by now, is not there any more.
          const isLost = name !== "" && code === Code.NOT_FOUND;
          if (isLost) name = "";
          if (attempt >= TRIES || !(isLost || isTransient(code))) throw error;
          await backoff(attempt, signal);
        }
      }
    } finally {
      signal.removeEventListener("abort", cancel);
      await ending;
    }
  }

  /** As far as the server knows how; nobody waits for it for long. */
  async #cancel(name: string): Promise<void> {
    const limits = { timeout: CANCEL_TIMEOUT, signal: new AbortController().signal };
    await this.#channel.call(cancelOperation, { name }, limits).catch(() => {});
  }
}

function responseOf({ error, response }: Operation): ExecuteResponse {
  if (error) throw new RemoteError(error.message, error.code);
  if (!response || !RESPONSE.test(response.typeUrl)) throw new RemoteError("it ends without a result");
  return decode(ExecuteResponse, response.value);
}
