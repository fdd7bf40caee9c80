// A shared cache that speaks the Remote Execution API v2 (BuildBuddy, NativeLink, bazel-remote and others). How it lies there:
//
//   Action            names nothing but the id of an index; nobody executes it, it is only there to be found by
//   ActionResult      of it: stdout is the index with its signature, a line, in front; its files are the contents of all
//                     entries in it, by their hashes
//
// So a hit takes two requests where a server puts stdout into its answer, and three where not: the result, and one batch of
// contents. An archive of an entry, as turbo has it, would take as many, and be sent as a whole when one file of a thousand
// has changed: here what the server has is not sent, and what this machine has is not fetched. Since the result names them, a
// server knows that contents are in use, and may say that there is no result when it has lost one. And nothing needs a
// signature but the index: it has the hash of each content.
//
// Contract: backend.ts. The sizes in a result are nobody's: they only say what to ask for. Loaded when something is asked.
import { statSync } from "node:fs";
import { oneLine } from "../../printable.ts";
import { type EncodedAction, describeAction } from "../../reapi/action.ts";
import { RemoteClient } from "../../reapi/client.ts";
import { type Blob, blobOf, type CasClient } from "../../reapi/cas-client.ts";
import { type Digest, digestOf, fromMessage, isOf, toMessage } from "../../reapi/digest.ts";
import { buildInputRoot } from "../../reapi/input-root.ts";
import { ActionResult } from "../../reapi/messages/remote_execution.ts";
import { Code, nameOf } from "../../reapi/grpc/grpc-status.ts";
import { codeOf, type RemoteError } from "../../reapi/grpc/retry.ts";
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

/** Files of one result: more than that are too long for a message. */
const MAX_FILES = 20_000;
const MAX_TAG_LENGTH = 64;
const LINE_FEED = 0x0a;
const LATE = Symbol("late");

export class ReapiBackend implements CacheBackend {
  readonly #settings: ReapiSettings;
  readonly #signer: ArtifactSigner;
  readonly #warn: Warn;
  readonly #end = new AbortController();
  readonly #client: RemoteClient;
  /** By their hashes, of contents that somebody has named. */
  readonly #sizes = new Map<string, number>();
  #connection: Promise<ReapiConnection> | undefined;
  #reads: boolean;
  #writes: boolean;
  #failures = 0;

  /** @param headers with their values. Throws RemoteError for certificates that are none. */
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
    this.#client = new RemoteClient({ ...settings, headers, toolVersion: VERSION }, this.#end.signal);
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
      // At the same time: it is one request less to wait for.
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

  /** Undefined where that of one is unknown, or all are too large. */
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
      // Servers refuse results of actions that they do not have.
      await store.upload([...messages, stdout].map(blobOf));
      await this.#client.putResult(digest, result);
      return true;
    });
    return isThere ?? false;
  }

  /** The server knows by itself what was of use. */
  async finish(): Promise<void> {
    this.abandon();
  }

  abandon(): void {
    this.#reads = this.#writes = false;
    this.#end.abort();
    this.#client[Symbol.dispose]();
  }

  /** What it can do is asked once. */
  async #connect(): Promise<ReapiConnection> {
    this.#connection ??= this.#client
      .connectCache()
      .then(({ store, abilities }) => ({ store, takesResults: abilities.takesResults }));
    return await this.#connection;
  }

  /** Undefined where nothing came of it. */
  async #try<Answer>(kind: "read" | "write", request: () => Promise<Answer>): Promise<Answer | undefined> {
    const isWrite = kind === "write";
    // What is read in order to be written again is read as well.
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

/** The same for all who share a cache. */
function actionFor(id: string): EncodedAction {
  const root = buildInputRoot([]);
  const action = describeAction({
    argv: ["rt", "index", id],
    environment: {},
    directory: "",
    outputs: [],
    platform: {},
    inputRoot: root.digest,
  });
  return { digest: action.digest, messages: [...root.messages, ...action.messages] };
}

/** As the store has it when it is sent, and whole. */
function storedBlob(digest: Digest, store: CacheStore): Blob {
  let whole: Uint8Array | null = null;
  return {
    digest,
    async read(start, end) {
      const bytes = whole ?? store.readBlob(digest.hash);
      if (!bytes) throw new Error("a content that was kept is not there any more");
      // Of what is read in pieces.
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
