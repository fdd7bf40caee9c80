// A worker thread that opens stores at the same time as other threads: in each round all threads wait for each other.
import { join } from "node:path";
import { CacheStore } from "../../../src/cache/store/cache-store.ts";

interface Job {
  readonly folder: string;
  /** The number of times that a thread was ready. */
  readonly arrivals: Int32Array;
  readonly rounds: number;
  readonly threads: number;
}

self.onmessage = ({ data }: MessageEvent<Job>) => {
  const { folder, arrivals, rounds, threads } = data;
  const secrets = Array.from({ length: rounds }, (_, round) => {
    const store = new CacheStore(join(folder, "rt", String(round)));
    Atomics.add(arrivals, 0, 1);
    while (Atomics.load(arrivals, 0) < (round + 1) * threads);
    return Buffer.from(store.secret()).toString("hex");
  });
  postMessage(secrets);
};
