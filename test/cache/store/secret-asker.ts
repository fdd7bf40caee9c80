// A thread of the test that opens stores at the same moment as others: round by round they wait for each other.
import { join } from "node:path";
import { CacheStore } from "../../../src/cache/store/cache-store.ts";

interface Question {
  readonly folder: string;
  /** How often one of the threads was ready. */
  readonly turns: Int32Array;
  readonly rounds: number;
  readonly threads: number;
}

self.onmessage = ({ data }: MessageEvent<Question>) => {
  const { folder, turns, rounds, threads } = data;
  const secrets = Array.from({ length: rounds }, (_, round) => {
    const store = new CacheStore(join(folder, "rt", String(round)));
    Atomics.add(turns, 0, 1);
    while (Atomics.load(turns, 0) < (round + 1) * threads);
    return Buffer.from(store.secret()).toString("hex");
  });
  postMessage(secrets);
};
