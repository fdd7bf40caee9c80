// The requests of turbo's protocol: artifacts by their ids, of one team on one server.
//
// Contract: nothing here rejects, and nothing lasts longer than its time limit. What goes wrong is told once, and after a few
// times, or one that took all of its time, nothing more is asked. A token reaches the server that was named and no other:
// not behind a redirect to another origin, and none leads from https to http. An answer that is longer than it may
// be, or not as long as it says, is none.
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
  /** "" where it has none. */
  readonly tag: string;
}

/** What the server is told about the use of it. */
export interface UseEvent {
  readonly hash: string;
  readonly event: "HIT" | "MISS";
  /** Milliseconds that the script took when it ran. */
  readonly duration: number;
}

type TurboClientOptions = Pick<
  TurboSettings,
  "url" | "slug" | "teamId" | "isRead" | "isWritten" | "timeout" | "uploadTimeout"
>;

const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
/** Bytes of an answer that only explains. */
const MAX_ERROR_SIZE = 64 * 1024;
/** Milliseconds for what nobody waits for. */
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

  /** Ends what is on its way, and asks for nothing more. */
  abandon(): void {
    this.#reads = this.#writes = false;
    this.#end.abort();
  }

  /** @param largest bytes; also for what is read in order to be written again */
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

  /** What comes of it is nobody's business. */
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

  /** Undefined where nothing came of it. */
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

  /** It took all of its time: others would as well. */
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
  /** Undefined where it was not what it said it is. */
  readonly bytes: Uint8Array | undefined;
}

/** Undefined for what is none, or leads to where no token would be safe. */
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
  // The engine rejects what breaks off.
  return { status, headers, bytes: Buffer.concat(chunks) };
}

/** As in `{"error":{"code":"forbidden"}}`. */
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
