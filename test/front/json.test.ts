// Compares the strict reader of package.json in the front with JSON.parse(), for mutated texts, under sanitizers.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createProject } from "../support/project.ts";
import { createRandom, type Random } from "../support/random.ts";

const COUNT = 100_000;
/** RT_FUZZ=100000, as before a release, makes it 10 million texts. */
const ROUNDS = Math.max(1, Number(process.env.RT_FUZZ ?? 0) / 1000);
const SEED = Number(process.env.RT_FUZZ_SEED ?? 101);
/** Milliseconds. */
const LIMIT = 300_000 * ROUNDS;

const SEEDS = [
  '{"scripts":{"test":"vitest","build":"tsc -p ."},"name":"a","version":"1.0.0"}',
  '{ "private": true, "scripts": { "pretest": "x", "test": "rt test" }, "n": [1, -2.5e+10, 0, null] }',
  '{"config":{"a":{"b":["c",{}]}},"scripts":{},"bin":"x.js","e":"\\u00e9\\n\\"\\\\"}',
  '{"name":"é😀","scripts":{"test":""}}\n',
  '{"scripts":[{"test":"x"}],"a":[[[[]]]]}',
  "{}",
];
const TOKENS = [
  '"',
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\\",
  "\\u",
  "0",
  "-",
  ".",
  "e",
  "true",
  "null",
  " ",
  "\n",
  "\0",
];
const MORE_TOKENS = [
  '"scripts":',
  '{"test":"y"}',
  '"test":"z",',
  "\xef\xbb\xbf",
  "\xed\xa0\x80",
  "\xc3",
  "/**/",
  "NaN",
];

function mutate(text: Buffer, { below: random }: Random): Buffer {
  let result = text;
  for (let left = random(3); left >= 0; left -= 1) {
    const [start, end] = [random(result.length + 1), random(result.length + 1)].toSorted((a, b) => a - b) as [
      number,
      number,
    ];
    const tokens = [...TOKENS, ...MORE_TOKENS];
    const token = Buffer.from(tokens[random(tokens.length)]!, "latin1");
    const piece = [token, Buffer.from([random(256)]), result.subarray(start, end), Buffer.alloc(0)][
      random(4)
    ]!;
    const rest = random(2) === 0 ? start : Math.min(result.length, start + random(3));
    result = Buffer.concat([result.subarray(0, start), piece, result.subarray(rest)]);
  }
  return result;
}

interface Package {
  readonly scripts?: Readonly<Record<string, unknown>>;
}

/** The script, undefined without one, or an error. */
function parse(text: Buffer): { script?: unknown } | Error {
  try {
    const value = JSON.parse(
      new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text),
    ) as Package;
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return new Error("not an object");
    const { scripts } = value;
    const isRecord = typeof scripts === "object" && scripts !== null && !Array.isArray(scripts);
    return isRecord && Object.hasOwn(scripts, "test") ? { script: scripts.test } : {};
  } catch (error) {
    return error as Error;
  }
}

function compareTexts(program: string, seed: number): void {
  const random = createRandom(seed);
  const texts: Buffer[] = SEEDS.map((seed) => Buffer.from(seed));
  // Only valid texts are mutated further.
  const bases = [...texts];
  while (texts.length < COUNT) {
    const text = mutate(random.pick(bases), random);
    if (bases.length < 2000 && !(parse(text) instanceof Error)) bases.push(text);
    texts.push(text);
  }
  const input = texts.flatMap((text) => [Buffer.from(Uint32Array.of(text.length).buffer), text]);
  const { stdout, stderr, exitCode } = Bun.spawnSync([program], { stdin: Buffer.concat(input) });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  const lines = stdout.toString("latin1").split("\n");
  let [accepted, valid] = [0, 0];
  for (const [index, text] of texts.entries()) {
    const line = Buffer.from(lines[index]!, "latin1").toString();
    const expected = parse(text);
    if (!(expected instanceof Error)) valid += 1;
    if (line === "doubt") continue;
    accepted += 1;
    const shown =
      expected instanceof Error
        ? expected
        : expected.script === undefined
          ? "none"
          : `script ${JSON.stringify(expected.script).slice(1, -1)}`;
    expect({ seed, text: text.toString(), line }).toEqual({
      seed,
      text: text.toString(),
      line: shown as string,
    });
  }
  // Most valid texts are accepted; a repeated or an escaped name is a doubt.
  expect(accepted).toBeGreaterThan(valid * 0.8);
  expect(valid).toBeGreaterThan(COUNT / 20);
}

const SOURCE = join(import.meta.dir, "json-program.c");
const WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"];

function compileProgram(command: readonly string[]): void {
  const flags = ["-O1", "-g", "-D_GNU_SOURCE", "-DPLAN", ...WARNINGS, "-fno-sanitize-recover=all"];
  const { stderr } = Bun.spawnSync([...command, ...flags, SOURCE]);
  expect(stderr.toString()).toBe("");
}

// It needs clang, which only `npm run test:fuzz` installs.
if (process.env.RT_FUZZ)
  test(
    "libFuzzer finds no read outside of the text of a package.json",
    async () => {
      const seeds = SEEDS.map((seed, index) => [`corpus/${index}`, seed] as const);
      const words = [...TOKENS, ...MORE_TOKENS].map((token) => toDictionaryWord(token));
      const files = { ...Object.fromEntries(seeds), dictionary: words.join("\n") };
      await using project = await createProject(files);
      const program = project.join("fuzzer");
      compileProgram(["clang", "-DFUZZER", "-fsanitize=fuzzer,address,undefined", "-o", program]);
      const options = [`-runs=${COUNT * ROUNDS}`, "-max_len=2000", `-seed=${SEED}`, "-dict=dictionary"];
      const { exitCode, stderr } = Bun.spawnSync([program, ...options, "corpus"], { cwd: project.path });
      const end = stderr.toString().trimEnd().split("\n").at(-1);
      expect({ exitCode, end }).toMatchObject({
        exitCode: 0,
        end: expect.stringContaining(`Done ${COUNT * ROUNDS} runs`),
      });
    },
    LIMIT,
  );

function toDictionaryWord(token: string): string {
  const bytes = [...Buffer.from(token, "latin1")];
  return `"${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}"`;
}

test.skipIf(process.platform !== "linux")(
  "the front accepts only a package.json that JSON.parse() accepts, and finds the same script",
  async () => {
    await using project = await createProject();
    const program = project.join("json");
    compileProgram(["cc", "-fsanitize=address,undefined", "-o", program]);
    for (let round = 0; round < ROUNDS; round += 1) compareTexts(program, SEED + round);
  },
  LIMIT,
);
