// Feeds a parser of foreign bytes with damaged copies of valid ones, the same in every run.
//
//   fuzz("tar", { inputs: [good], check: (bytes, what) => { ... throw for a fault ... } })
//
// `npm test` tries COUNT inputs; RT_FUZZ sets another number, RT_FUZZ_SEED the first seed. Input n depends on the seed plus n
// alone, so RT_FUZZ=1 RT_FUZZ_SEED=<seed of the error> repeats a failure.
//
// Faults are errors of `check`, a check that does not end, and growing memory. A parser that hangs blocks its thread, so another
// thread checks the progress, prints the input and ends the process.
import { createRandom, type Random } from "./random.ts";

const COUNT = 2000;
const SEED = Number(process.env.RT_FUZZ_SEED ?? 1);
/** Time limit of one input in ms: thousands of times the usual time. */
const TIME_LIMIT = 20_000;
/** Limit of the process's growth over all inputs. */
const MAX_GROWTH = 512 * 1024 * 1024; // bytes

/** Invalid lengths, counts and offsets. */
const EXTREMES = [
  0n,
  1n,
  0x7fn,
  0x80n,
  0xffn,
  0x7fffn,
  0xffffn,
  0x7fffffffn,
  0x80000000n,
  0xffffffffn,
  2n ** 63n,
];

type Mutation = (bytes: Buffer, random: Random, others: readonly Uint8Array[]) => Buffer;

const MUTATIONS: readonly Mutation[] = [
  function flipBit(bytes, random) {
    const at = random.below(bytes.length);
    bytes[at]! ^= 1 << random.below(8);
    return bytes;
  },
  function setByte(bytes, random) {
    bytes[random.below(bytes.length)] = random.pick([0, 1, 0x2d, 0x2f, 0x39, 0x7f, 0x80, 0xff]);
    return bytes;
  },
  function truncate(bytes, random) {
    return bytes.subarray(0, random.below(bytes.length));
  },
  function lie(bytes, random) {
    const size = Math.min(random.pick([2, 4, 8]), bytes.length);
    const field = Buffer.alloc(8);
    const value = BigInt.asUintN(64, random.pick([1n, -1n]) * random.pick(EXTREMES));
    if (random.below(2) === 0) field.writeBigUInt64LE(value);
    else field.writeBigUInt64BE(BigInt.asUintN(64, value << BigInt(64 - size * 8)));
    field.copy(bytes, random.below(bytes.length - size + 1), 0, size);
    return bytes;
  },
  function splice(bytes, random, others) {
    const other = random.pick(others);
    const end = random.below(other.length + 1);
    return Buffer.concat([bytes.subarray(0, random.below(bytes.length)), other.subarray(end)]);
  },
  function repeat(bytes, random) {
    const start = random.below(bytes.length);
    const end = start + random.below(Math.min(bytes.length - start, 1024));
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(start)]);
  },
];

/** Applies one to four mutations to a copy of one of the inputs. */
export function mutate(random: Random, inputs: readonly Uint8Array[]): Buffer {
  let bytes: Buffer = Buffer.from(random.pick(inputs));
  for (let left = 1 + random.below(4); left > 0 && bytes.length > 0; left -= 1)
    bytes = random.pick(MUTATIONS)(bytes, random, inputs);
  return bytes;
}

const WATCH = `
  const { writeSync } = require("node:fs");
  self.onmessage = ({ data: { progress, name, seed, patience } }) => {
    let seen = -1;
    setInterval(() => {
      const now = Atomics.load(progress, 0);
      if (now === seen) {
        writeSync(2, "fuzz " + name + ": does not end; RT_FUZZ=1 RT_FUZZ_SEED=" + (seed + now) + "\\n");
        process.kill(process.pid, "SIGKILL");
      }
      seen = now;
    }, patience);
  };
  postMessage("ready");`;

export interface FuzzedParser {
  /** Valid inputs, which `check` must have accepted. */
  readonly inputs: readonly Uint8Array[];
  /** Throws an error for a fault. */
  check(bytes: Buffer): void | Promise<void>;
  /** Makes inputs differently where damage alone is rejected early, for example by a checksum. */
  make?(random: Random): Uint8Array;
  /** Number of inputs in `npm test` when one takes long. */
  readonly count?: number;
}

/** @throws Error with the seed of the first input that shows a fault */
export async function fuzz(
  name: string,
  { inputs, check, make, count = COUNT }: FuzzedParser,
): Promise<void> {
  const progress = new Int32Array(new SharedArrayBuffer(4));
  const watch = new Worker(URL.createObjectURL(new Blob([WATCH])));
  await new Promise((resolve) => watch.addEventListener("message", resolve, { once: true }));
  watch.postMessage({ progress, name, seed: SEED, patience: TIME_LIMIT });
  const before = process.resourceUsage().maxRSS;
  try {
    for (let index = 0; index < Number(process.env.RT_FUZZ ?? count); index += 1) {
      Atomics.store(progress, 0, index);
      const random = createRandom(SEED + index);
      try {
        await check(Buffer.from(make?.(random) ?? mutate(random, inputs)));
        if ((process.resourceUsage().maxRSS - before) * 1024 > MAX_GROWTH)
          throw new Error("takes too much memory");
      } catch (cause) {
        throw new Error(`fuzz ${name}: ${(cause as Error).message}; RT_FUZZ=1 RT_FUZZ_SEED=${SEED + index}`, {
          cause,
        });
      }
    }
  } finally {
    watch.terminate();
  }
}
