// Sends the requests of turbo's protocol: artifacts by ID, of one team on one server.
//
// Invariants:
// - No method rejects or exceeds its timeout. Each failure is reported once; after repeated failures or a timeout, no
//   further request is sent.
// - The token is sent to the configured origin only, never to another origin after a redirect. Redirects from https
//   to http are refused.
// - A response that is too large, or shorter than its Content-Length, is discarded.
import { oneLine } from "../../printable.ts";
import type { TurboSettings } from "../../config/settings/remote-cache.ts";
import { VERSION } from "../../version.ts";
import {
  MAX_FAILED_REQUESTS,
  describeTimeout,
  describeUnreachable,
  type ResponseAction,
  reactToRead,
  reactToWrite,
} from "./response-actions.ts";
import type { Warn } from "./backend.ts";

export interface Artifact {
  readonly bytes: Uint8Array;
  /** "" if it is missing. */
  readonly tag: string;
}

/** A hit or miss that is reported to the server. */
export interface UseEvent {
  readonly hash: string;
  readonly event: "HIT" | "MISS";
  /** Duration of the script in milliseconds. */
  readonly duration: number;
}

type TurboClientOptions = Pick<
  TurboSettings,
  "url" | "slug" | "teamId" | "isRead" | "isWritten" | "timeout" | "uploadTimeout"
>;

const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Bytes of an error response. */
const MAX_ERROR_SIZE = 64 * 1024;
/** Milliseconds. The run waits no longer for usage events. */
const EVENTS_TIMEOUT = 500;

export class TurboClient {
  readonly #settings: TurboClientOptions;
  readonly #token: string;
  readonly #warn: Warn;
  readonly #end = new AbortController();
  readonly #session = crypto.randomUUID();
  #reads: boolean;
  #writes: boolean;
  #failures = 0;

  constructor(settings: TurboClientOptions, token: string, warn: Warn) {
    this.#settings = settings;
    this.#token = token;
    this.#warn = warn;
    this.#reads = settings.isRead;
    this.#writes = settings.isWritten;
  }

  get isRead(): boolean {
    return this.#reads;
  }

  get isWritten(): boolean {
    return this.#writes;
  }

  /** Aborts pending requests and sends no more. */
  abandon(): void {
    this.#reads = this.#writes = false;
    this.#end.abort();
  }

  /**
   * @param maxSize bytes
   * Also used to read an index before it is rewritten.
   */
  async get(id: string, maxSize: number): Promise<Artifact | undefined> {
    for (let isFirst = true; this.#reads || this.#writes; isFirst = false) {
      const { timeout } = this.#settings;
      const answer = await this.#exchange("GET", this.#addressOf(id), {}, maxSize, timeout);
      if (!answer) return undefined;
      if (answer.status === 200)
        return answer.bytes && { bytes: answer.bytes, tag: answer.headers.get("x-artifact-tag") ?? "" };
      const reaction = reactToRead(answer.status, codeOf(answer), answer.headers.get("retry-after"), timeout);
      if (reaction.retryDelay === undefined || !isFirst) this.#react(reaction);
      if (reaction.retryDelay === undefined) return undefined;
      if (!isFirst) return this.#giveUp(undefined);
      await this.#pause(reaction.retryDelay);
    }
    return undefined;
  }

  async has(id: string): Promise<boolean> {
    if (!this.#writes) return false;
    const answer = await this.#exchange("HEAD", this.#addressOf(id), {}, 0, this.#settings.timeout);
    return answer?.status === 200;
  }

  /** @param duration of the script, in milliseconds */
  async put(id: string, bytes: Uint8Array, duration: number, tag: string | undefined): Promise<boolean> {
    if (!this.#writes) return false;
    const headers = {
      "content-type": "application/octet-stream",
      "x-artifact-duration": String(Math.round(duration)),
      ...(tag !== undefined && { "x-artifact-tag": tag }),
    };
    const request = { headers, body: bytes };
    const answer = await this.#exchange(
      "PUT",
      this.#addressOf(id),
      request,
      MAX_ERROR_SIZE,
      this.#settings.uploadTimeout,
    );
    if (!answer) return false;
    if (answer.status >= 200 && answer.status < 300) return true;
    this.#react(reactToWrite(answer.status, codeOf(answer)));
    return false;
  }

  /** Reports usage events; failures are ignored. */
  async sendEvents(events: readonly UseEvent[]): Promise<void> {
    if (events.length === 0 || !this.#reads) return;
    const body = events.map((each) => ({ sessionId: this.#session, source: "REMOTE", ...each }));
    const headers = { "content-type": "application/json" };
    const request = { headers, body: JSON.stringify(body) };
    await this.#exchange("POST", this.#addressOf("events"), request, 0, EVENTS_TIMEOUT, true);
  }

  #addressOf(id: string): URL {
    const { url, slug, teamId } = this.#settings;
    const address = new URL(`${url}/v8/artifacts/${id}`);
    if (teamId !== undefined) address.searchParams.set("teamId", teamId);
    if (slug !== undefined) address.searchParams.set("slug", slug);
    return address;
  }

  /** Returns undefined on failure. */
  async #exchange(
    method: string,
    address: URL,
    request: { headers?: Record<string, string>; body?: Uint8Array | string },
    maxSize: number,
    timeout: number,
    isSilent = false,
  ): Promise<TurboResponse | undefined> {
    const clock = AbortSignal.timeout(timeout);
    const signal = AbortSignal.any([clock, this.#end.signal]);
    try {
      let at = address;
      for (let redirects = 0; ; redirects++) {
        const response = await fetch(at, {
          ...(request as { body?: BodyInit }),
          method,
          headers: {
            "user-agent": `rt ${VERSION}`,
            "accept-encoding": "identity",
            ...request.headers,
            ...(at.origin === address.origin && { authorization: `Bearer ${this.#token}` }),
          },
          redirect: "manual",
          decompress: false,
          tls: { rejectUnauthorized: true },
          signal,
        });
        const next = redirectOf(response, at);
        if (!next || method === "PUT") return await readAnswer(response, method, maxSize);
        await response.body?.cancel();
        if (redirects === MAX_REDIRECTS) return undefined;
        at = next;
      }
    } catch (error) {
      if (isSilent || this.#end.signal.aborted) return undefined;
      const isUpload = method === "PUT";
      if (clock.aborted) this.#giveUp(describeTimeout(timeout / 1000, isUpload), isUpload);
      else this.#fail(codeOfError(error));
      return undefined;
    }
  }

  #fail(code: string): void {
    this.#failures++;
    this.#warn(describeUnreachable(oneLine(code)));
    if (this.#failures >= MAX_FAILED_REQUESTS) this.#reads = this.#writes = false;
  }

  /** Disables the cache after a timeout, because further requests would time out too. */
  #giveUp(line: string | undefined, isUpload = false): undefined {
    if (line !== undefined) this.#warn(line);
    if (isUpload) this.#writes = false;
    else if (line !== undefined || ++this.#failures >= MAX_FAILED_REQUESTS)
      this.#reads = this.#writes = false;
  }

  #react({ disables, message }: ResponseAction): void {
    if (message !== undefined) this.#warn(message);
    if (disables === "reading" || disables === "both") this.#reads = false;
    if (disables === "writing" || disables === "both") this.#writes = false;
  }

  async #pause(duration: number): Promise<void> {
    const { signal } = this.#end;
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, duration);
    signal.addEventListener("abort", () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }
}

interface TurboResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if the body is incomplete or too large. */
  readonly bytes: Uint8Array | undefined;
}

/** Returns undefined if there is no redirect, or its target is unsafe for the token. */
function redirectOf({ status, headers }: Response, from: URL): URL | undefined {
  if (!REDIRECTS.includes(status)) return undefined;
  const next = URL.parse(headers.get("location") ?? "", from.href);
  if (!next || !["http:", "https:"].includes(next.protocol)) return undefined;
  return from.protocol === "https:" && next.protocol !== "https:" ? undefined : next;
}

async function readAnswer(response: Response, method: string, maxSize: number): Promise<TurboResponse> {
  const { status, headers } = response;
  const limit = status === 200 ? maxSize : MAX_ERROR_SIZE;
  const promised = headers.get("content-length");
  if (method === "HEAD" || (promised !== null && Number(promised) > limit)) {
    await response.body?.cancel();
    return { status, headers, bytes: undefined };
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > limit) return { status, headers, bytes: undefined };
    chunks.push(chunk);
  }
  // The engine rejects a truncated body.
  return { status, headers, bytes: Buffer.concat(chunks) };
}

/** Returns the code of `{"error":{"code":"forbidden"}}`. */
function codeOf({ bytes }: TurboResponse): string | undefined {
  try {
    const { error } = JSON.parse(new TextDecoder().decode(bytes)) as { error?: { code?: unknown } };
    return typeof error?.code === "string" ? error.code : undefined;
  } catch {
    return undefined;
  }
}

function codeOfError(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: string };
  return typeof code === "string" ? code : (name ?? "unknown");
}
