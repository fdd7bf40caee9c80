// Client of a content-addressed store (CAS): uploads missing blobs and downloads blobs by digest.
//
// Invariants:
// - Downloaded content matches its digest, or the download fails.
// - Small blobs are sent in batches within the server's message limit, large ones in streams, a few at the same
//   time.
// - Content is compressed if the server supports it; decompression is limited to the digest's size.
import { type Capabilities, ZSTD } from "./capabilities.ts";
import type { Channel } from "./grpc/channel.ts";
import { compress, decompress, maxCompressedSize, MAX_COMPRESSED_SIZE } from "./grpc/compression.ts";
import { type Digest, type Encoded, isOf, toMessage } from "./digest.ts";
import { batchReadBlobs, batchUpdateBlobs, findMissingBlobs, readBytes, writeBytes } from "./grpc/methods.ts";
import { Code } from "./grpc/grpc-status.ts";
import { codeOf, type Limits, RemoteError, retry } from "./grpc/retry.ts";

export interface Blob {
  readonly digest: Digest;
  read(start: number, end: number): Promise<Uint8Array>;
}

/** Servers accept 4 MiB, including envelope and names. */
const MAX_BATCH_SIZE = 3_800_000;
const OVERHEAD_PER_BLOB = 160;
const MAX_DIGESTS = 10_000;
const CHUNK = 1 << 20;
const MAX_CONCURRENT = 8;

export class CasClient {
  readonly #channel: Channel;
  readonly #instance: string;
  readonly #limits: Required<Limits>;
  readonly #maxBatchSize: number;
  readonly #zstd: Capabilities["zstd"];
  #readsBatches = true;

  constructor(
    channel: Channel,
    instance: string,
    limits: Required<Limits>,
    { maxBatchSize, zstd }: Pick<Capabilities, "maxBatchSize" | "zstd">,
  ) {
    this.#channel = channel;
    this.#instance = instance;
    this.#limits = limits;
    this.#maxBatchSize = maxBatchSize > 0 ? Math.min(MAX_BATCH_SIZE, maxBatchSize) : MAX_BATCH_SIZE;
    this.#zstd = zstd;
  }

  /**
   * Uploads missing blobs. @param isNew skips the check, because all are missing @returns number and bytes of the
   * missing blobs
   */
  async upload(blobs: readonly Blob[], isNew = false): Promise<{ count: number; bytes: number }> {
    const wanted = new Map(blobs.map((blob) => [blob.digest.hash, blob]));
    const missing = isNew ? [...wanted.values()] : await this.#findMissing(wanted);
    const isSmall = ({ digest }: Blob) => digest.size + OVERHEAD_PER_BLOB <= this.#maxBatchSize;
    const jobs = [
      ...inBatches(missing.filter(isSmall), this.#maxBatchSize).map((batch) => () => this.#sendBatch(batch)),
      ...missing.filter((blob) => !isSmall(blob)).map((blob) => () => this.#sendStream(blob)),
    ];
    await runConcurrently(jobs);
    return { count: missing.length, bytes: missing.reduce((sum, { digest }) => sum + digest.size, 0) };
  }

  async #findMissing(wanted: ReadonlyMap<string, Blob>): Promise<Blob[]> {
    const missing: Blob[] = [];
    for (const part of splitInto([...wanted.values()], MAX_DIGESTS)) {
      const { missingBlobDigests } = await retry(this.#limits, (options) =>
        this.#channel.call(
          findMissingBlobs,
          {
            instanceName: this.#instance,
            blobDigests: part.map(({ digest }) => toMessage(digest)),
          },
          options,
        ),
      );
      for (const { hash } of missingBlobDigests) {
        const blob = wanted.get(hash);
        if (blob) missing.push(blob);
      }
    }
    return missing;
  }

  async #sendBatch(batch: readonly Blob[]): Promise<void> {
    const requests = await Promise.all(
      batch.map(async ({ digest, read }) => {
        const data = await read(0, digest.size);
        const compressed = this.#zstd.inBatches ? await compress(data) : undefined;
        return { digest: toMessage(digest), data: compressed ?? data, compressor: compressed ? ZSTD : 0 };
      }),
    );
    const { responses } = await retry(this.#limits, (options) =>
      this.#channel.call(batchUpdateBlobs, { instanceName: this.#instance, requests }, options),
    );
    const rejected = responses.find(({ status }) => (status?.code ?? 0) !== 0);
    if (rejected)
      throw new RemoteError(`it rejected an upload: ${rejected.status!.message}`, rejected.status!.code);
  }

  async #sendStream({ digest, read }: Blob): Promise<void> {
    const { hash, size } = digest;
    const canCompress = this.#zstd.inStreams && size <= MAX_COMPRESSED_SIZE;
    const compressed = canCompress ? await compress(await read(0, size)) : undefined;
    const length = compressed?.length ?? size;
    const kind = compressed ? "compressed-blobs/zstd" : "blobs";
    const resourceName = `${this.#prefix}uploads/${crypto.randomUUID()}/${kind}/${hash}/${size}`;
    async function* chunks() {
      for (let start = 0; start < length; start += CHUNK) {
        const end = Math.min(length, start + CHUNK);
        const data = compressed ? compressed.subarray(start, end) : await read(start, end);
        yield {
          resourceName: start === 0 ? resourceName : "",
          writeOffset: BigInt(start),
          data,
          finishWrite: end === length,
        };
      }
    }
    const { committedSize } = await retry(this.#limitsFor(size), (options) =>
      this.#channel.send(writeBytes, chunks(), options),
    );
    // If another client uploaded the blob concurrently, the committed size of a compressed upload may be -1 or the
    // full size.
    const committed = Number(committedSize);
    if (committed !== length && !(compressed && (committed === -1 || committed === size)))
      throw new RemoteError(`it stored ${committedSize} of ${length} bytes`);
  }

  get #prefix(): string {
    return this.#instance === "" ? "" : `${this.#instance}/`;
  }

  /** Returns content by hash. @throws RemoteError with NOT_FOUND if a blob is missing */
  async download(digests: readonly Digest[]): Promise<Map<string, Uint8Array>> {
    const contents = new Map<string, Uint8Array>();
    const wanted = [...new Map(digests.map((digest) => [digest.hash, digest])).values()];
    for (const digest of wanted) if (digest.size === 0) addVerified(contents, digest, new Uint8Array());
    const rest = wanted.filter(({ size }) => size > 0);
    const isSmall = ({ size }: Digest) => size + OVERHEAD_PER_BLOB <= this.#maxBatchSize;
    const batches = inBatches(
      rest.filter(isSmall).map((digest) => ({ digest })),
      this.#maxBatchSize,
    );
    const jobs = [
      ...batches.map(
        (batch) => () =>
          this.#readBatch(
            batch.map(({ digest }) => digest),
            contents,
          ),
      ),
      ...rest.filter((digest) => !isSmall(digest)).map((digest) => () => this.#readStream(digest, contents)),
    ];
    await runConcurrently(jobs);
    return contents;
  }

  async #readBatch(digests: readonly Digest[], contents: Map<string, Uint8Array>): Promise<void> {
    if (this.#readsBatches && digests.length > 1) {
      try {
        const { responses } = await retry(this.#limits, (options) =>
          this.#channel.call(
            batchReadBlobs,
            {
              instanceName: this.#instance,
              digests: digests.map(toMessage),
              acceptableCompressors: this.#zstd.inBatches ? [ZSTD] : [],
            },
            options,
          ),
        );
        const byHash = new Map(responses.map((response) => [response.digest?.hash, response]));
        for (const digest of digests) {
          const response = byHash.get(digest.hash);
          const code = response?.status?.code ?? (response ? 0 : Code.NOT_FOUND);
          if (code !== 0) throw new RemoteError(`it has lost ${digest.hash}`, code);
          const { data, compressor } = response!;
          addVerified(contents, digest, compressor === ZSTD ? await decompress(data, digest) : data);
        }
        return;
      } catch (error) {
        if (codeOf(error) !== Code.UNIMPLEMENTED) throw error;
        this.#readsBatches = false;
      }
    }
    await runConcurrently(digests.map((digest) => () => this.#readStream(digest, contents)));
  }

  async #readStream(digest: Digest, contents: Map<string, Uint8Array>): Promise<void> {
    const { hash, size } = digest;
    const isCompressed = this.#zstd.inStreams;
    const resourceName = `${this.#prefix}${isCompressed ? "compressed-blobs/zstd" : "blobs"}/${hash}/${size}`;
    const request = { resourceName, readOffset: 0n, readLimit: 0n };
    const maxSize = isCompressed ? maxCompressedSize(size) : size;
    const bytes = await retry(this.#limitsFor(size), async (options) => {
      const parts: Uint8Array[] = [];
      let length = 0;
      for await (const { data } of this.#channel.stream(readBytes, request, options)) {
        length += data.length;
        if (length > maxSize)
          throw new RemoteError(`it sent more than the ${size} bytes of ${hash}`, undefined, true);
        parts.push(data);
      }
      // A stream that was cut short may still end with OK.
      if (!isCompressed && length < size)
        throw new RemoteError(`the end of ${hash} is missing`, Code.UNAVAILABLE, true);
      return Buffer.concat(parts, length);
    });
    addVerified(contents, digest, isCompressed ? await decompress(bytes, digest) : bytes);
  }

  /** A slow connection transfers a megabyte in ten seconds. */
  #limitsFor(size: number): Required<Limits> {
    return { ...this.#limits, timeout: this.#limits.timeout + size / 100 };
  }
}

function addVerified(contents: Map<string, Uint8Array>, digest: Digest, bytes: Uint8Array): void {
  if (!isOf(digest, bytes))
    throw new RemoteError(`it sent other content than ${digest.hash}`, undefined, true);
  contents.set(digest.hash, bytes);
}

function splitInto<Item>(items: readonly Item[], maxSize: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / maxSize) }, (_, at) =>
    items.slice(at * maxSize, (at + 1) * maxSize),
  );
}

function inBatches<Item extends { readonly digest: Digest }>(
  items: readonly Item[],
  maxSize: number,
): Item[][] {
  const batches: Item[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const own = item.digest.size + OVERHEAD_PER_BLOB;
    if (size + own > maxSize) {
      batches.push([]);
      size = 0;
    }
    batches.at(-1)!.push(item);
    size += own;
  }
  return batches;
}

/** Runs a few jobs at a time. The first failure is thrown when no job runs any more. */
async function runConcurrently(jobs: readonly (() => Promise<void>)[]): Promise<void> {
  const waiting = [...jobs];
  let failure: { readonly error: unknown } | undefined;
  const go = async () => {
    for (let job = waiting.shift(); job && !failure; job = waiting.shift()) {
      try {
        await job();
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, go));
  if (failure) throw failure.error;
}

export function blobOf({ digest, bytes }: Encoded): Blob {
  return { digest, read: async (start, end) => bytes.subarray(start, end) };
}
