// `npm run mutants`: tries each mutant of the tables (see mutant.ts) in a copy of this tree, and closes with
//
//   N killed, N survived (N of them explained), NN.N %
//
// `npm run mutants -- <texts>` tries those alone that have one of the texts in their names; `--jobs=N` so many side by side, each
// in a copy of its own; `--report=FILE` keeps the verdicts, and takes over those that still stand (see verdicts.ts). A test
// that fails is seen to pass without the change: what fails anyway notices nothing. It ends with 1 when a mutant survives
// without an explanation, or could not be tried.
import { parseArgs } from "node:util";
import { copyTree, startsProgram, type TreeCopy } from "./copy.ts";
import { findMistake, nameOf, type Placed, readTables, testFileOf } from "./mutant.ts";
import { type Judgement, openVerdicts, type Verdict } from "./verdicts.ts";

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: { jobs: { type: "string", default: "1" }, report: { type: "string" } },
  allowPositionals: true,
});

function fail(message: string): never {
  console.error(`error: ${message}`);
  process.exit(1);
}

const jobs = Number(values.jobs);
if (!/^[1-9]\d*$/.test(values.jobs)) fail(`--jobs needs a whole number from 1, not "${values.jobs}"`);
const all = await readTables();
const isChosen = (mutant: Placed) =>
  positionals.length === 0 || positionals.some((text) => nameOf(mutant).includes(text));
const chosen = all.filter(isChosen);
if (chosen.length === 0) fail(`no mutant has "${positionals.join('" or "')}" in its name`);
for (const mutant of chosen) {
  const mistake = await findMistake(mutant);
  if (mistake) fail(mistake);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1)); // and clean up

/** By test: whether it passes without any change. */
const unchanged = new Map<string, Promise<boolean>>();

/** That test alone, or its file where it cannot be told from others, or is not known. */
async function passesUnchanged(copy: TreeCopy, file: string, title: string | undefined): Promise<boolean> {
  if (title !== undefined && (await copy.runTests(file, title)).hasPassed) return true;
  return (await copy.runTests(file)).hasPassed;
}

/** The first test that fails with it; undefined where none does. */
async function findFailure(
  copy: TreeCopy,
  mutant: Placed,
): Promise<{ file: string; title: string | undefined } | undefined> {
  await using _changed = await copy.change(mutant);
  for (const file of mutant.tests.map(testFileOf)) {
    const { hasPassed, failed } = await copy.runTests(file);
    if (!hasPassed) return { file, title: failed };
  }
  return undefined;
}

async function judge(copy: TreeCopy, mutant: Placed): Promise<Judgement> {
  try {
    const failure = await findFailure(copy, mutant);
    if (!failure) return { verdict: "survived", remark: "" };
    const { file, title } = failure;
    const key = `${file}\0${title}`;
    if (!unchanged.has(key)) unchanged.set(key, passesUnchanged(copy, file, title));
    return (await unchanged.get(key))
      ? { verdict: "killed", remark: title ?? "the tests did not end" }
      : { verdict: "not tried", remark: `${file} fails without it: ${title}` };
  } catch (error) {
    return { verdict: "not tried", remark: (error as Error).message };
  }
}

const kept = openVerdicts(chosen, values.report);
const verdicts = new Map<Placed, Verdict>();
for (const mutant of chosen) {
  const judgement = kept.get(mutant);
  if (judgement) give(mutant, judgement);
}
/** Those that are soon tried come first. */
const waiting = chosen.filter((mutant) => !verdicts.has(mutant)).toSorted((a, b) => costOf(a) - costOf(b));

function costOf({ tests }: Placed): number {
  return tests.filter(startsProgram).length;
}

async function work(): Promise<void> {
  await using copy = await copyTree();
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    const judgement = await judge(copy, mutant);
    kept.add(mutant, judgement);
    give(mutant, judgement);
  }
}

function give(mutant: Placed, { verdict, remark }: Judgement): void {
  const words = verdict === "survived" ? (mutant.why ?? "") : remark;
  verdicts.set(mutant, verdict);
  console.log(`${verdict.toUpperCase().padEnd(10)} ${nameOf(mutant)}${words && `\n           ${words}`}`);
}

await Promise.all(Array.from({ length: Math.min(jobs, waiting.length) }, work));
const having = (verdict: Verdict) => chosen.filter((mutant) => verdicts.get(mutant) === verdict);
const [killed, survived, untried] = [having("killed"), having("survived"), having("not tried")];
const explained = survived.filter(({ why }) => why !== undefined).length;
const share = (100 * killed.length) / Math.max(killed.length + survived.length, 1);
if (untried.length > 0) console.log(`${untried.length} could not be tried`);
console.log(
  `${killed.length} killed, ${survived.length} survived (${explained} of them explained), ${share.toFixed(1)} %`,
);
process.exitCode = survived.length > explained || untried.length > 0 ? 1 : 0;
