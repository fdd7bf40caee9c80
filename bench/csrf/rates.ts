// Measures issued and verified tokens per second, compared with Bun.CSRF in the same process.
// - `bun bench/csrf/rates.ts`: the source
// - `dist/rt bench/csrf/rates.ts`: the compiled program
//
// The floor is the work of every implementation over this engine: its HMAC with a prepared key, its encoding and the clock. If a
// goal is out of reach, the row shows the distance to the floor.
import { join } from "node:path";
import { RT } from "../../test/support/rt.ts";
import type { Figure } from "../row.ts";
import { measureIn, median, runningRt, sampleRates } from "./alternating-samples.ts";

const SECRET = "a secret of the usual length: 32+";
const ROUNDS = 301;
const BATCH = 1000;

const { CSRF } = runningRt() ?? (await import("../../src/csrf/csrf.ts"));

/** As many visitors as calls in a batch, so that consecutive calls differ. */
const sessionIds = Array.from({ length: BATCH }, () => crypto.randomUUID());
const tokens = sessionIds.map(() => Bun.CSRF.generate(SECRET));
const boundTokens = sessionIds.map((sessionId) => Bun.CSRF.generate(SECRET, { sessionId }));
const at = (call: number) => call % BATCH;

const hasher = new Bun.CryptoHasher("sha256", SECRET);
const bytes = Buffer.alloc(96);
const header = bytes.subarray(0, 32);
const signature = bytes.subarray(32);

interface Contest {
  figure: string;
  goal: number;
  ours: (call: number) => unknown;
  peer: (call: number) => unknown;
  floor: (call: number) => unknown;
}

const contests: Contest[] = [
  {
    figure: "CSRF generate",
    goal: 2.5,
    ours: () => CSRF.generate(SECRET),
    peer: () => Bun.CSRF.generate(SECRET),
    floor: () => {
      bytes[0] = Date.now();
      hasher.copy().update(header).digest(signature);
      return bytes.toString("base64url", 0, 64);
    },
  },
  {
    figure: "CSRF generate, sessionId",
    goal: 2.5,
    ours: (call) => CSRF.generate(SECRET, { sessionId: sessionIds[at(call)]! }),
    peer: (call) => Bun.CSRF.generate(SECRET, { sessionId: sessionIds[at(call)]! }),
    floor: (call) => {
      bytes[0] = Date.now();
      hasher.copy().update(header).update(sessionIds[at(call)]!).digest(signature);
      return bytes.toString("base64url", 0, 64);
    },
  },
  {
    figure: "CSRF verify",
    goal: 1.2,
    ours: (call) => CSRF.verify(tokens[at(call)]!, { secret: SECRET }),
    peer: (call) => Bun.CSRF.verify(tokens[at(call)]!, { secret: SECRET }),
    floor: (call) => {
      bytes.write(tokens[at(call)]!, "base64url");
      hasher.copy().update(header).digest(signature);
      return Date.now();
    },
  },
  {
    figure: "CSRF verify, sessionId",
    goal: 1.2,
    ours: (call) => CSRF.verify(boundTokens[at(call)]!, { secret: SECRET, sessionId: sessionIds[at(call)]! }),
    peer: (call) =>
      Bun.CSRF.verify(boundTokens[at(call)]!, { secret: SECRET, sessionId: sessionIds[at(call)]! }),
    floor: (call) => {
      bytes.write(boundTokens[at(call)]!, "base64url");
      hasher.copy().update(header).update(sessionIds[at(call)]!).digest(signature);
      return Date.now();
    },
  },
];

function measureHere(): Figure[] {
  const rate = (nanoseconds: number) => `${Math.round(1e6 / nanoseconds)}k/s`;
  return contests.flatMap(({ figure, goal, ours, peer, floor }) => {
    const [mine, theirs, least] = sampleRates([ours, peer, floor], ROUNDS, BATCH) as [
      number[],
      number[],
      number[],
    ];
    const toOurs = median(theirs.map((time, round) => time / mine[round]!));
    const toFloor = median(theirs.map((time, round) => time / least[round]!));
    const peerRate = `Bun.CSRF ${rate(median(theirs))}`;
    return [
      {
        figure,
        ours: rate(median(mine)),
        peer: peerRate,
        ratio: toOurs,
        goal: `>= ${goal}`,
        met: toOurs >= goal,
      },
      {
        figure: `${figure}: floor`,
        ours: rate(median(least)),
        peer: peerRate,
        ratio: toFloor,
        goal: "",
        met: true,
      },
    ];
  });
}

/** Returns the rates of the compiled program, or of another one. */
export async function measure(program = RT): Promise<Figure[]> {
  return measureIn(program, join(import.meta.dir, "rates.ts"));
}

if (import.meta.main) {
  const rows = measureHere();
  if (process.argv.includes("--json")) console.log(JSON.stringify(rows));
  else console.table(rows.map((row) => ({ ...row, ratio: row.ratio.toFixed(2) })));
}
