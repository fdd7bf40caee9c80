// Stores a shared cache on a Remote Execution API v2 server (BuildBuddy, NativeLink, bazel-remote and others).
//
// - Action: contains only the ID of an index. It is never executed; its action digest is the lookup key.
// - ActionResult: stdout is the signature, a line feed and the index. The output files are the blobs of all entries.
//
// Invariants:
// - See backend.ts. Sizes in a result are untrusted: they are used only in requests.
//
// Non-obvious:
// - A hit needs two requests, or three if the server does not inline stdout. Blobs are separate, so only missing ones
//   are sent.
// - The result names all blobs, so a server can keep them, and can drop the result if it lost one.
import { statSync } from "node:fs";
import { oneLine } from "../../printable.ts";
import { type EncodedAction, encodeAction } from "../../reapi/action.ts";
import { RemoteClient } from "../../reapi/client.ts";
import { type Blob, blobOf, type CasClient } from "../../reapi/cas-client.ts";
import { type Digest, digestOf, fromMessage, isOf, toMessage } from "../../reapi/digest.ts";
import { buildInputRoot } from "../../reapi/input-root.ts";
import { ActionResult } from "../../reapi/messages/remote_execution.ts";
import { Code, nameOf } from "../../reapi/grpc/grpc-status.ts";
import { codeOf, type RemoteError, RetryBudget } from "../../reapi/grpc/retry.ts";
import type { ReapiSettings } from "../../config/settings/remote-cache.ts";
import { VERSION } from "../../version.ts";
import { blobHashesOf, type CacheEntry } from "../entry/entry.ts";
import type { CacheStore } from "../store/cache-store.ts";
import {
  DAMAGED,
  describeTimeout,
  describeUnusable,
  MAX_FAILED_REQUESTS,
  type ResponseAction,
  reactToStatus,
  READ_ONLY,
  TOO_LARGE,
} from "./response-actions.ts";
import { indexId, type PackedIndex, MAX_INDEX_SIZE, MAX_TAR_SIZE } from "./artifact.ts";
import type { CacheBackend, Warn } from "./backend.ts";
import type { ArtifactSigner } from "./signature.ts";

interface ReapiConnection {
  readonly store: CasClient;
  readonly takesResults: boolean;
}

/** Output files of one result; more exceed the message size. */
const MAX_FILES = 20_000;
/** Retries of a run. A cache that needs more is slower than running the scripts. */
const MAX_RETRIES = 50;
const MAX_TAG_LENGTH = 64;
const LINE_FEED = 0x0a;
const LATE = Symbol("late");

export class ReapiBackend implements CacheBackend {
  readonly #settings: ReapiSettings;
  readonly #signer: ArtifactSigner;
  readonly #warn: Warn;
  readonly #end = new AbortController();
  readonly #client: RemoteClient;
  /** Sizes by hash, of blobs that an index or an upload named. */
  readonly #sizes = new Map<string, number>();
  #connection: Promise<ReapiConnection> | undefined;
  #reads: boolean;
  #writes: boolean;
  #failures = 0;

  /**
   * @param headers with their values
   * @throws RemoteError for invalid certificates
   */
  constructor(
    settings: ReapiSettings,
    headers: Readonly<Record<string, string>>,
    signer: ArtifactSigner,
    warn: Warn,
  ) {
    this.#settings = settings;
    this.#signer = signer;
    this.#warn = warn;
    this.#reads = settings.isRead;
    this.#writes = settings.isWritten;
    this.#client = new RemoteClient(
      { ...settings, headers, toolVersion: VERSION },
      this.#end.signal,
      new RetryBudget(MAX_RETRIES),
    );
  }

  get isRead(): boolean {
    return this.#reads;
  }

  get isWritten(): boolean {
    return this.#writes;
  }

  async getIndex(key: string): Promise<Uint8Array | undefined> {
    const id = indexId(key);
    const signedIndex = await this.#try("read", async () => {
      // Concurrent, to save one round trip.
      const [{ store }, result] = await Promise.all([
        this.#connect(),
        this.#client.findResult(actionFor(id).digest, true),
      ]);
      return result && (await this.#readIndex(result, store));
    });
    const end = signedIndex?.subarray(0, MAX_TAG_LENGTH + 1).indexOf(LINE_FEED) ?? -1;
    if (!signedIndex || end === -1) return undefined;
    const tag = Buffer.from(signedIndex.subarray(0, end)).toString("latin1");
    return this.#signer.open(id, signedIndex.subarray(end + 1), tag);
  }

  async #readIndex(result: ActionResult, store: CasClient): Promise<Uint8Array | undefined> {
    const digest = fromMessage(result.stdoutDigest);
    if (!digest || digest.size > MAX_INDEX_SIZE + MAX_TAG_LENGTH) return undefined;
    for (const file of result.outputFiles) {
      const content = fromMessage(file.digest);
      if (content) this.#sizes.set(content.hash, content.size);
    }
    if (isOf(digest, result.stdoutRaw)) return result.stdoutRaw;
    return (await store.download([digest])).get(digest.hash);
  }

  async getContents(
    _: CacheEntry,
    digests: readonly string[],
  ): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
    const wanted = this.#measure(digests);
    if (!wanted) return undefined;
    return await this.#try("read", async () => {
      const { store } = await this.#connect();
      return await store.download(wanted);
    });
  }

  /** Returns undefined if a size is unknown, or the total is too large. */
  #measure(hashes: readonly string[]): Digest[] | undefined {
    const digests = hashes.flatMap((hash) => {
      const size = this.#sizes.get(hash);
      return size === undefined ? [] : [{ hash, size }];
    });
    const size = digests.reduce((sum, each) => sum + each.size, 0);
    return digests.length === hashes.length && size <= MAX_TAR_SIZE ? digests : undefined;
  }

  async putContents(entry: CacheEntry, store: CacheStore): Promise<boolean> {
    const contents = blobHashesOf(entry);
    const isThere = await this.#try("write", async () => {
      const connection = await this.#connect();
      if (!connection.takesResults) {
        this.#react({ disables: "writing", message: READ_ONLY });
        return false;
      }
      for (const hash of contents) this.#sizes.set(hash, statSync(store.blobPath(hash)).size);
      const digests = this.#measure(contents);
      if (!digests || digests.length > MAX_FILES) {
        this.#react({ message: TOO_LARGE });
        return false;
      }
      await connection.store.upload(digests.map((digest) => storedBlob(digest, store)));
      return true;
    });
    return isThere ?? false;
  }

  async putIndex(key: string, { bytes, entries }: PackedIndex): Promise<boolean> {
    const id = indexId(key);
    const signedIndex = Buffer.concat([Buffer.from(`${this.#signer.sign(id, bytes) ?? ""}\n`), bytes]);
    const stdout = { digest: digestOf(signedIndex), bytes: signedIndex };
    const { digest, messages } = actionFor(id);
    const files = [...new Set(entries.flatMap(blobHashesOf))].slice(0, MAX_FILES);
    const result: ActionResult = {
      ...ActionResult.decode(new Uint8Array()),
      stdoutDigest: toMessage(stdout.digest),
      outputFiles: files.toSorted().flatMap((hash) => {
        const [content] = this.#measure([hash]) ?? [];
        return content ? [{ path: hash, digest: toMessage(content), isExecutable: false }] : [];
      }),
    };
    const isThere = await this.#try("write", async () => {
      const { store } = await this.#connect();
      // Servers reject results of unknown actions.
      await store.upload([...messages, stdout].map(blobOf));
      await this.#client.putResult(digest, result);
      return true;
    });
    return isThere ?? false;
  }

  /** The protocol has no usage events. */
  async finish(): Promise<void> {
    this.abandon();
  }

  abandon(): void {
    this.#reads = this.#writes = false;
    this.#end.abort();
    this.#client[Symbol.dispose]();
  }

  /** Queries the server's capabilities once. */
  async #connect(): Promise<ReapiConnection> {
    this.#connection ??= this.#client
      .connectCache()
      .then(({ store, capabilities }) => ({ store, takesResults: capabilities.acceptsResults }));
    return await this.#connection;
  }

  /** Returns undefined on failure. */
  async #try<Answer>(kind: "read" | "write", request: () => Promise<Answer>): Promise<Answer | undefined> {
    const isWrite = kind === "write";
    // Writing an index reads the present one first.
    if (isWrite ? !this.#writes : !this.#reads && !this.#writes) return undefined;
    const { timeout, uploadTimeout } = this.#settings;
    const timeoutMs = isWrite ? uploadTimeout : timeout;
    const { promise: late, resolve } = Promise.withResolvers<typeof LATE>();
    const timer = setTimeout(resolve, timeoutMs, LATE);
    try {
      const answer = await Promise.race([request(), late]);
      if (answer !== LATE) return answer;
      this.#react({
        disables: isWrite ? "writing" : "both",
        message: describeTimeout(timeoutMs / 1000, isWrite),
      });
    } catch (error) {
      if (!this.#end.signal.aborted) this.#react(reactionTo(error, isWrite, timeoutMs));
    } finally {
      clearTimeout(timer);
    }
    return undefined;
  }

  #react({ disables, isFailure, message }: ResponseAction): void {
    if (message !== undefined) this.#warn(message);
    if (isFailure && ++this.#failures >= MAX_FAILED_REQUESTS) this.#reads = this.#writes = false;
    if (disables === "both") this.#reads = false;
    if (disables !== undefined) this.#writes = false;
  }
}

/** Builds the Action of an index. All clients build the same. */
function actionFor(id: string): EncodedAction {
  const root = buildInputRoot([]);
  const action = encodeAction({
    argv: ["rt", "index", id],
    environment: {},
    directory: "",
    outputs: [],
    platform: {},
    inputRoot: root.digest,
  });
  return { digest: action.digest, messages: [...root.messages, ...action.messages] };
}

/** A blob that is read from the store when it is sent. */
function storedBlob(digest: Digest, store: CacheStore): Blob {
  let whole: Uint8Array | null = null;
  return {
    digest,
    async read(start, end) {
      const bytes = whole ?? store.readBlob(digest.hash);
      if (!bytes) throw new Error("a stored blob is missing");
      // Kept between the chunks of a large blob.
      whole = end < digest.size ? bytes : null;
      return bytes.subarray(start, end);
    },
  };
}

function reactionTo(thrown: unknown, isWrite: boolean, timeoutMs: number): ResponseAction {
  const error = thrown as Error;
  const code = codeOf(error);
  if ((error as RemoteError).isDamaged) return { message: DAMAGED };
  if (code === Code.DEADLINE_EXCEEDED)
    return { disables: isWrite ? "writing" : "both", message: describeTimeout(timeoutMs / 1000, isWrite) };
  if (code !== undefined) return reactToStatus(nameOf(code), isWrite);
  return { disables: isWrite ? "writing" : "both", message: describeUnusable(oneLine(error.message)) };
}
