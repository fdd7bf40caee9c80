// Tests whether the time of `verify` depends on the correct part of a forged signature. The method is that of dudect: tokens of
// two classes in random order, and Welch's t over the samples. Beyond |t| = 4.5 the classes almost certainly take different
// times.
//
// In class A the first byte of the signature is wrong, in class B the last of 32. A comparison that stops at the first difference
// would be faster for A.
//
// The control row measures such a comparison after the same work. It must show the difference, otherwise the result has no
// meaning.
// - `bun bench/csrf/timing.ts`: the source
// - `dist/rt bench/csrf/timing.ts`: the compiled program
import { join } from "node:path";
import { RT } from "../../test/support/rt.ts";
import type { Figure } from "../row.ts";
import { measureIn, median, runningRt } from "./alternating-samples.ts";

const SECRET = "a secret of the usual length: 32+";
const SUSPICIOUS = 4.5;
const TOKENS = 128;
const SAMPLES = 6000;

const { CSRF } = runningRt() ?? (await import("../../src/csrf/csrf.ts"));

interface Verdict {
  t: number;
  medians: [number, number];
}

/** Returns tokens whose signature is correct before the byte at `wrong`. */
function forge(wrong: number): string[] {
  return Array.from({ length: TOKENS }, () => {
    const bytes = Buffer.from(CSRF.generate(SECRET), "base64url");
    bytes[32 + wrong]! ^= 1 + Math.floor(Math.random() * 255);
    return bytes.toString("base64url");
  });
}

function compareClasses(check: (token: string) => boolean): Verdict {
  const classes = [forge(0), forge(31)] as const;
  for (let turn = 0; turn < 400; turn++) classes[turn & 1]!.forEach(check);
  const times: [number[], number[]] = [[], []];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const which = Math.random() < 0.5 ? 0 : 1;
    const tokens = classes[which];
    const start = Bun.nanoseconds();
    for (const token of tokens) if (check(token)) throw new Error("A forged token was accepted");
    times[which].push((Bun.nanoseconds() - start) / TOKENS);
  }
  // Interruptions only lengthen a sample, so the slowest samples are dropped.
  const limit = [...times[0], ...times[1]].sort((a, b) => a - b)[Math.floor(SAMPLES * 0.7)]!;
  const [first, last] = times.map((all) => all.filter((time) => time <= limit)) as [number[], number[]];
  return { t: welch(first, last), medians: [median(first), median(last)] };
}

function welch(a: readonly number[], b: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  const spread = (values: readonly number[], around: number) =>
    values.reduce((sum, value) => sum + (value - around) ** 2, 0) / (values.length - 1) / values.length;
  return (meanB - meanA) / Math.sqrt(spread(a, meanA) + spread(b, meanB));
}

/** `verify` without constant time: the same decoding and hashing, then a byte-wise comparison until the first difference. */
function openLeakyVerify(): (token: string) => boolean {
  const hasher = new Bun.CryptoHasher("sha256", SECRET);
  const bytes = Buffer.alloc(64);
  const header = bytes.subarray(0, 32);
  const expected = Buffer.alloc(64);
  return (token) => {
    bytes.write(token, "base64url");
    hasher.copy().update(header).digest(expected);
    for (let index = 0; index < 32; index++) if (bytes[32 + index] !== expected[index]) return false;
    return true;
  };
}

function measureHere(): Figure[] {
  const row = (figure: string, { t, medians }: Verdict, goal: string, met: boolean): Figure => ({
    figure: `${figure}: first byte wrong, last byte wrong (|t| ${Math.abs(t).toFixed(1)})`,
    ours: `${medians[0].toFixed(1)} ns`,
    peer: `${medians[1].toFixed(1)} ns`,
    ratio: medians[1] / medians[0],
    goal,
    met,
  });
  const leaky = openLeakyVerify();
  const control = compareClasses(leaky);
  const verdict = compareClasses((token) => CSRF.verify(token, { secret: SECRET }));
  return [
    row("CSRF verify", verdict, `|t| < ${SUSPICIOUS}`, Math.abs(verdict.t) < SUSPICIOUS),
    row(
      "Control: a comparison that stops early",
      control,
      `|t| > ${SUSPICIOUS}`,
      Math.abs(control.t) > SUSPICIOUS,
    ),
  ];
}

/** Returns the statistics for the compiled program, or for another one. */
export async function measure(program = RT): Promise<Figure[]> {
  return measureIn(program, join(import.meta.dir, "timing.ts"));
}

if (import.meta.main) {
  const rows = measureHere();
  if (process.argv.includes("--json")) console.log(JSON.stringify(rows));
  else console.table(rows.map((row) => ({ ...row, ratio: row.ratio.toFixed(3) })));
}
