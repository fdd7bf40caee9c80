// What a server can do, of what it says when it is asked.
//
// Contract: pure. What it does not say, it cannot do.
import type { ServerCapabilities } from "./messages/remote_execution.ts";

export interface Abilities {
  readonly knowsSha256: boolean;
  readonly executes: boolean;
  /** Whether it takes results of actions from clients: not with every credential. */
  readonly takesResults: boolean;
  /** Bytes of one message; 0 where it does not say. */
  readonly largestBatch: number;
  /** Whether content may be compressed, in streams and in batches. */
  readonly zstd: { readonly inStreams: boolean; readonly inBatches: boolean };
}

/** Of the API's digest functions. */
const SHA256 = 1;
/** Of its compressors. */
export const ZSTD = 1;

export function readCapabilities({
  cacheCapabilities,
  executionCapabilities,
}: ServerCapabilities): Abilities {
  const cache = cacheCapabilities;
  return {
    knowsSha256: cache?.digestFunctions.includes(SHA256) ?? false,
    executes: executionCapabilities?.execEnabled ?? false,
    takesResults: cache?.actionCacheUpdateCapabilities?.updateEnabled ?? false,
    largestBatch: Math.max(0, Number(cache?.maxBatchTotalSizeBytes ?? 0)),
    zstd: {
      inStreams: cache?.supportedCompressors.includes(ZSTD) ?? false,
      inBatches: cache?.supportedBatchUpdateCompressors.includes(ZSTD) ?? false,
    },
  };
}
