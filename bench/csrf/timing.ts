// Does the time of `verify` tell how much of a forged signature is right? A statistical answer, in the way
// of dudect: tokens of two classes in random order, Welch's t over the samples. Beyond |t| = 4.5 the two
// classes take different times with near certainty.
//
// Class A has a wrong first byte of signature, class B a wrong last byte and 31 right ones. A comparison
// that stops at the first difference would be quicker for A. The control row measures exactly such a
// comparison behind the same work, and must be told apart: otherwise a quiet result would mean nothing.
//
//   bun bench/csrf/timing.ts        the source
//   dist/rt bench/csrf/timing.ts    the compiled program
import { join } from "node:path";
import { RT } from "../../test/support/rt.ts";
import type { Row } from "../row.ts";
import { measureIn, median, runningRt } from "./sample.ts";

const SECRET = "a secret of the usual length: 32+";
const SUSPICIOUS = 4.5;
const TOKENS = 128;
const SAMPLES = 6000;

const { CSRF } = runningRt() ?? (await import("../../src/csrf/csrf.ts"));

interface Verdict {
  t: number;
  medians: [number, number];
}

/** Tokens whose signature is right up to the byte at `wrong`, counted from its start. */
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
  // What interrupts a sample only makes it longer, so the upper tail is the machine's.
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

/** `verify` without its care: the same decoding and hashing, then byte by byte until one differs. */
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

function measureHere(): Row[] {
  const row = (figure: string, { t, medians }: Verdict, goal: string, met: boolean): Row => ({
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

/** The statistics for the compiled program, or for another one. */
export async function measure(program = RT): Promise<Row[]> {
  return measureIn(program, join(import.meta.dir, "timing.ts"));
}

if (import.meta.main) {
  const rows = measureHere();
  if (process.argv.includes("--json")) console.log(JSON.stringify(rows));
  else console.table(rows.map((row) => ({ ...row, ratio: row.ratio.toFixed(3) })));
}
