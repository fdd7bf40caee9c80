// Reads the capabilities that a server announces.
//
// Invariants: pure. A capability that is not announced is missing.
import type { ServerCapabilities } from "./messages/remote_execution.ts";

export interface Capabilities {
  readonly hasSha256: boolean;
  readonly canExecute: boolean;
  /** Whether the server accepts action results from this client; depends on its credentials. */
  readonly acceptsResults: boolean;
  /** Maximum bytes of one message; 0 if the server does not announce it. */
  readonly maxBatchSize: number;
  /** Whether content may be compressed, in streams and in batches. */
  readonly zstd: { readonly inStreams: boolean; readonly inBatches: boolean };
}

/** Value of the API's DigestFunction. */
const SHA256 = 1;
/** Value of the API's Compressor. */
export const ZSTD = 1;

export function readCapabilities({
  cacheCapabilities,
  executionCapabilities,
}: ServerCapabilities): Capabilities {
  const cache = cacheCapabilities;
  return {
    hasSha256: cache?.digestFunctions.includes(SHA256) ?? false,
    canExecute: executionCapabilities?.execEnabled ?? false,
    acceptsResults: cache?.actionCacheUpdateCapabilities?.updateEnabled ?? false,
    maxBatchSize: Math.max(0, Number(cache?.maxBatchTotalSizeBytes ?? 0)),
    zstd: {
      inStreams: cache?.supportedCompressors.includes(ZSTD) ?? false,
      inBatches: cache?.supportedBatchUpdateCompressors.includes(ZSTD) ?? false,
    },
  };
}
