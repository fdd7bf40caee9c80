// The content that a server keeps, by digest: what is missing is sent, what is wanted is read.
//
// Contract: content is what its digest says, or an error. No message is longer than servers take: what is small goes with
// others, what is large in a stream of its own, a few of either at a time. It is compressed where the server offers that,
// and never becomes more than its digest says (compression.ts).
import { type Abilities, ZSTD } from "./capabilities.ts";
import type { Channel } from "./grpc/channel.ts";
import { compress, decompress, largestPacked, MOST_COMPRESSED } from "./grpc/compression.ts";
import { type Digest, type Encoded, isOf, toMessage } from "./digest.ts";
import { batchReadBlobs, batchUpdateBlobs, findMissingBlobs, readBytes, writeBytes } from "./grpc/methods.ts";
import { Code } from "./grpc/grpc-status.ts";
import { codeOf, type Limits, RemoteError, retry } from "./grpc/retry.ts";

/** Content to be uploaded. */
export interface Blob {
  readonly digest: Digest;
  /** At most the bytes of the digest's size from `start` on. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** Servers take 4 MiB, envelope and names included. */
const LARGEST_BATCH = 3_800_000;
const PER_BLOB = 160;
const MOST_DIGESTS = 10_000;
const CHUNK = 1 << 20;
/** At a time. */
const MOST_STREAMS = 8;

export class CasClient {
  readonly #channel: Channel;
  readonly #instance: string;
  readonly #limits: Required<Limits>;
  readonly #largestBatch: number;
  readonly #zstd: Abilities["zstd"];
  #readsBatches = true;

  constructor(
    channel: Channel,
    instance: string,
    limits: Required<Limits>,
    { largestBatch, zstd }: Pick<Abilities, "largestBatch" | "zstd">,
  ) {
    this.#channel = channel;
    this.#instance = instance;
    this.#limits = limits;
    this.#largestBatch = largestBatch > 0 ? Math.min(LARGEST_BATCH, largestBatch) : LARGEST_BATCH;
    this.#zstd = zstd;
  }

  /** Uploads what is not there. @param isNew nothing of it is. @returns how many that were, and their bytes */
  async upload(blobs: readonly Blob[], isNew = false): Promise<{ count: number; bytes: number }> {
    const wanted = new Map(blobs.map((blob) => [blob.digest.hash, blob]));
    const missing = isNew ? [...wanted.values()] : await this.#findMissing(wanted);
    const isSmall = ({ digest }: Blob) => digest.size + PER_BLOB <= this.#largestBatch;
    const jobs = [
      ...inBatches(missing.filter(isSmall), this.#largestBatch).map((batch) => () => this.#sendBatch(batch)),
      ...missing.filter((blob) => !isSmall(blob)).map((blob) => () => this.#sendStream(blob)),
    ];
    await inTurns(jobs);
    return { count: missing.length, bytes: missing.reduce((sum, { digest }) => sum + digest.size, 0) };
  }

  async #findMissing(wanted: ReadonlyMap<string, Blob>): Promise<Blob[]> {
    const missing: Blob[] = [];
    for (const part of inParts([...wanted.values()], MOST_DIGESTS)) {
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
        const packed = this.#zstd.inBatches ? await compress(data) : undefined;
        return { digest: toMessage(digest), data: packed ?? data, compressor: packed ? ZSTD : 0 };
      }),
    );
    const { responses } = await retry(this.#limits, (options) =>
      this.#channel.call(batchUpdateBlobs, { instanceName: this.#instance, requests }, options),
    );
    const refused = responses.find(({ status }) => (status?.code ?? 0) !== 0);
    if (refused)
      throw new RemoteError(
        `it does not take what is sent: ${refused.status!.message}`,
        refused.status!.code,
      );
  }

  async #sendStream({ digest, read }: Blob): Promise<void> {
    const { hash, size } = digest;
    const isToBePacked = this.#zstd.inStreams && size <= MOST_COMPRESSED;
    const packed = isToBePacked ? await compress(await read(0, size)) : undefined;
    const length = packed?.length ?? size;
    const way = packed ? "compressed-blobs/zstd" : "blobs";
    const resourceName = `${this.#prefix}uploads/${crypto.randomUUID()}/${way}/${hash}/${size}`;
    async function* pieces() {
      for (let start = 0; start < length; start += CHUNK) {
        const end = Math.min(length, start + CHUNK);
        const data = packed ? packed.subarray(start, end) : await read(start, end);
        yield {
          resourceName: start === 0 ? resourceName : "",
          writeOffset: BigInt(start),
          data,
          finishWrite: end === length,
        };
      }
    }
    const { committedSize } = await retry(this.#limitsFor(size), (options) =>
      this.#channel.send(writeBytes, pieces(), options),
    );
    // What somebody else has sent meanwhile is not counted where it is compressed.
    const kept = Number(committedSize);
    if (kept !== length && !(packed && (kept === -1 || kept === size)))
      throw new RemoteError(`it has kept ${committedSize} of ${length} bytes`);
  }

  get #prefix(): string {
    return this.#instance === "" ? "" : `${this.#instance}/`;
  }

  /** Content by its hash. Throws RemoteError, with NotFound where some of it is not there. */
  async download(digests: readonly Digest[]): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    const wanted = [...new Map(digests.map((digest) => [digest.hash, digest])).values()];
    for (const digest of wanted) if (digest.size === 0) keep(found, digest, new Uint8Array());
    const rest = wanted.filter(({ size }) => size > 0);
    const isSmall = ({ size }: Digest) => size + PER_BLOB <= this.#largestBatch;
    const batches = inBatches(
      rest.filter(isSmall).map((digest) => ({ digest })),
      this.#largestBatch,
    );
    const jobs = [
      ...batches.map(
        (batch) => () =>
          this.#readBatch(
            batch.map(({ digest }) => digest),
            found,
          ),
      ),
      ...rest.filter((digest) => !isSmall(digest)).map((digest) => () => this.#readStream(digest, found)),
    ];
    await inTurns(jobs);
    return found;
  }

  async #readBatch(digests: readonly Digest[], found: Map<string, Uint8Array>): Promise<void> {
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
          keep(found, digest, compressor === ZSTD ? await decompress(data, digest) : data);
        }
        return;
      } catch (error) {
        if (codeOf(error) !== Code.UNIMPLEMENTED) throw error;
        this.#readsBatches = false;
      }
    }
    await inTurns(digests.map((digest) => () => this.#readStream(digest, found)));
  }

  async #readStream(digest: Digest, found: Map<string, Uint8Array>): Promise<void> {
    const { hash, size } = digest;
    const isPacked = this.#zstd.inStreams;
    const resourceName = `${this.#prefix}${isPacked ? "compressed-blobs/zstd" : "blobs"}/${hash}/${size}`;
    const request = { resourceName, readOffset: 0n, readLimit: 0n };
    const most = isPacked ? largestPacked(size) : size;
    const bytes = await retry(this.#limitsFor(size), async (options) => {
      const parts: Uint8Array[] = [];
      let length = 0;
      for await (const { data } of this.#channel.stream(readBytes, request, options)) {
        length += data.length;
        if (length > most)
          throw new RemoteError(`it sends more than the ${size} bytes of ${hash}`, undefined, true);
        parts.push(data);
      }
      // A stream that was cut short may end well.
      if (!isPacked && length < size)
        throw new RemoteError(`the end of ${hash} is missing`, Code.UNAVAILABLE, true);
      return Buffer.concat(parts, length);
    });
    keep(found, digest, isPacked ? await decompress(bytes, digest) : bytes);
  }

  /** A slow line carries a megabyte in ten seconds. */
  #limitsFor(size: number): Limits {
    return { ...this.#limits, timeout: this.#limits.timeout + size / 100 };
  }
}

function keep(found: Map<string, Uint8Array>, digest: Digest, bytes: Uint8Array): void {
  if (!isOf(digest, bytes)) throw new RemoteError(`what it sends is not ${digest.hash}`, undefined, true);
  found.set(digest.hash, bytes);
}

function inParts<Item>(items: readonly Item[], most: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / most) }, (_, at) =>
    items.slice(at * most, (at + 1) * most),
  );
}

function inBatches<Item extends { readonly digest: Digest }>(items: readonly Item[], most: number): Item[][] {
  const batches: Item[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const own = item.digest.size + PER_BLOB;
    if (size + own > most) {
      batches.push([]);
      size = 0;
    }
    batches.at(-1)!.push(item);
    size += own;
  }
  return batches;
}

/** A few at a time; the first that fails is thrown when none runs any more. */
async function inTurns(jobs: readonly (() => Promise<void>)[]): Promise<void> {
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
  await Promise.all(Array.from({ length: MOST_STREAMS }, go));
  if (failure) throw failure.error;
}

export function blobOf({ digest, bytes }: Encoded): Blob {
  return { digest, read: async (start, end) => bytes.subarray(start, end) };
}
