// `npm run mutants`: tests each mutant of the tables (see mutant.ts) in a copy of this tree. The last line of its output is
//
//   N killed, N survived (N of them explained), NN.N %
//
// `npm run mutants -- <texts>` tries only mutants whose names contain one of the texts.
//
// `--jobs=N` uses N copies in parallel. `--report=FILE` stores the verdicts and reuses the valid ones (see verdicts.ts).
// It exits with 1 when a mutant survives without an explanation, or could not be tried.
//
// `npm run mutants -- --changed [base]` tries mutants of the lines that differ from a commit (default: origin/main). It chooses
// `--max=N` of them at random (default: 60), and `--seed=N` repeats a choice. It exits with 1 when fewer than 85 % are killed:
// some generated mutants change nothing that a test could observe.
//
// Non-obvious: a test that fails with a mutant is repeated without it. If it fails again, it is not used.
import { parseArgs } from "node:util";
import { listChangedMutants, sampleMutants } from "./changed.ts";
import { readChangedLines } from "./changed-lines.ts";
import { copyTree, startsProgram, type TreeCopy } from "./copy.ts";
import { findMistake, nameOf, type Placed, readTables, testFileOf } from "./mutant.ts";
import { type Judgement, openVerdicts, type Verdict } from "./verdicts.ts";

const DEFAULT_BASE = "origin/main";
/** Percent of generated mutants that must be killed. */
const MIN_KILLED = 85;

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: {
    changed: { type: "boolean", default: false },
    max: { type: "string", default: "60" },
    seed: { type: "string", default: String(Date.now() % 10_000) },
    jobs: { type: "string", default: "1" },
    report: { type: "string" },
  },
  allowPositionals: true,
});

function fail(message: string): never {
  console.error(`error: ${message}`);
  process.exit(1);
}

function readNumber(option: "jobs" | "max" | "seed"): number {
  const value = values[option];
  if (!/^[1-9]\d*$/.test(value)) fail(`--${option} needs a whole number from 1, not "${value}"`);
  return Number(value);
}

async function chooseFromTables(): Promise<Placed[]> {
  const all = await readTables();
  const isChosen = (mutant: Placed) =>
    positionals.length === 0 || positionals.some((text) => nameOf(mutant).includes(text));
  const chosen = all.filter(isChosen);
  if (chosen.length === 0) fail(`no mutant has "${positionals.join('" or "')}" in its name`);
  for (const mutant of chosen) {
    const mistake = await findMistake(mutant);
    if (mistake) fail(mistake);
  }
  return chosen;
}

function chooseFromChanges(count: number, seed: number): Placed[] {
  const base = positionals[0] ?? DEFAULT_BASE;
  if (positionals.length > 1) fail(`--changed takes one base, not "${positionals.join('" and "')}"`);
  try {
    const all = listChangedMutants(readChangedLines(base));
    const chosen = sampleMutants(all, count, seed);
    const choice = chosen.length < all.length ? `, ${chosen.length} of them tried (--seed=${seed})` : "";
    console.log(`${all.length} mutants of the lines that differ from ${base}${choice}`);
    return chosen;
  } catch (error) {
    fail((error as Error).message);
  }
}

const jobs = readNumber("jobs");
const chosen = values.changed
  ? chooseFromChanges(readNumber("max"), readNumber("seed"))
  : await chooseFromTables();

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1)); // its handlers delete the copies

/** Whether a test passes without a mutant, by file and title. */
const unchanged = new Map<string, Promise<boolean>>();
/** Test files that fail without a mutant. */
const failing = new Set<string>();
/** Tests that killed a mutant, by source file, the latest first. They run first for its other mutants. */
const killers = new Map<string, string[]>();

/** Runs that test only, or its whole file if its title is unknown or not unique. */
async function passesUnchanged(copy: TreeCopy, file: string, title: string | undefined): Promise<boolean> {
  if (title !== undefined && (await copy.runTests(file, title)).hasPassed) return true;
  return (await copy.runTests(file)).hasPassed;
}

interface Failure {
  readonly file: string;
  readonly title: string | undefined;
}

/** Returns the first test that fails with the mutant; undefined when all pass. */
async function findFailure(copy: TreeCopy, mutant: Placed): Promise<Failure | undefined> {
  await using _changed = await copy.change(mutant);
  const recent = killers.get(mutant.file) ?? [];
  const names = [...new Set([...recent, ...mutant.tests])].filter((name) => mutant.tests.includes(name));
  const files = names.map(testFileOf).filter((file) => !failing.has(file));
  const likeliest = stored.likeliest(mutant);
  if (likeliest !== undefined)
    for (const file of files) {
      const { failed } = await copy.runTests(file, likeliest);
      if (failed !== undefined) return { file, title: failed };
    }
  for (const file of files) {
    const { hasPassed, failed } = await copy.runTests(file);
    if (!hasPassed) return { file, title: failed };
  }
  return undefined;
}

async function judge(copy: TreeCopy, mutant: Placed): Promise<Judgement> {
  try {
    for (;;) {
      const failure = await findFailure(copy, mutant);
      if (!failure) break;
      const { file, title } = failure;
      const key = `${file}\0${title}`;
      if (!unchanged.has(key)) unchanged.set(key, passesUnchanged(copy, file, title));
      if (await unchanged.get(key)) {
        const name = mutant.tests.find((each) => testFileOf(each) === file)!;
        killers.set(mutant.file, [name, ...(killers.get(mutant.file) ?? [])]);
        return { verdict: "killed", remark: title ?? "the tests did not end" };
      }
      if (!failing.has(file))
        console.log(`warning: "${file}" fails without a mutant, so it is not used: ${title}`);
      failing.add(file);
    }
    if (mutant.tests.every((name) => failing.has(testFileOf(name))))
      return { verdict: "not tried", remark: "its tests fail without it, or there are none" };
    return { verdict: "survived", remark: "" };
  } catch (error) {
    return { verdict: "not tried", remark: (error as Error).message };
  }
}

const stored = openVerdicts(chosen, values.report);
const verdicts = new Map<Placed, Verdict>();
for (const mutant of chosen) {
  const judgement = stored.get(mutant);
  if (judgement) reportVerdict(mutant, judgement);
}
/** The mutants with the fewest slow tests are first. */
const waiting = chosen.filter((mutant) => !verdicts.has(mutant)).toSorted((a, b) => costOf(a) - costOf(b));

function costOf({ tests }: Placed): number {
  return tests.filter(startsProgram).length;
}

async function work(): Promise<void> {
  await using copy = await copyTree();
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    const judgement = await judge(copy, mutant);
    stored.add(mutant, judgement);
    reportVerdict(mutant, judgement);
  }
}

function reportVerdict(mutant: Placed, { verdict, remark }: Judgement): void {
  const words = verdict === "survived" ? (mutant.why ?? "") : remark;
  verdicts.set(mutant, verdict);
  console.log(`${verdict.toUpperCase().padEnd(10)} ${nameOf(mutant)}${words && `\n           ${words}`}`);
}

await Promise.all(Array.from({ length: Math.min(jobs, waiting.length) }, work));
const having = (verdict: Verdict) => chosen.filter((mutant) => verdicts.get(mutant) === verdict);
const [killed, survived, untried] = [having("killed"), having("survived"), having("not tried")];
const explained = survived.filter(({ why }) => why !== undefined).length;
const share = (100 * killed.length) / Math.max(killed.length + survived.length, 1);
if (survived.length > explained) console.log(["", "Survivors:", ...survived.map(nameOf)].join("\n"));
if (untried.length > 0) console.log(`${untried.length} could not be tried`);
console.log(
  `${killed.length} killed, ${survived.length} survived (${explained} of them explained), ${share.toFixed(1)} %`,
);
const isEnough = values.changed
  ? share >= MIN_KILLED || survived.length === 0
  : survived.length === explained && untried.length === 0;
process.exitCode = isEnough ? 0 : 1;
