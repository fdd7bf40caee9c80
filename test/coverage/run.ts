// `npm run coverage`: runs the tests with an instrumented program, in a copy of this tree, and prints what no test runs. The output
// ends with
//
//   N of N blocks ran, NN.N %
//
// `npm run coverage -- <patterns>` runs only matching test files, and lists only files of which some block ran.
//
// Non-obvious:
// - The source is instrumented, not the bundle. So tests that import it, or build for another system, count too.
// - A few tests fail in the copy: those of the source's text and of a program's size. Their blocks count as run.
import { closeSync, ftruncateSync, openSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { copySources } from "../mutants/copy.ts";
import { type Block, instrument } from "./blocks.ts";
import { renderCoverage } from "./report.ts";

const ENGINE = process.execPath;
const patterns = process.argv.slice(2);

/** Files that have no blocks of ours. */
const isGenerated = (text: string) => text.startsWith("// Code generated");

const tree = await copySources("rt-coverage-");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1)); // its handlers delete the copy

const marks = join(tree, "dist/blocks");
const blocks: Block[] = [];
const names = [...new Bun.Glob("{src,platform}/**/*.ts").scanSync(tree)].toSorted();
const texts = await Promise.all(names.map((name) => readFile(join(tree, name), "utf8")));

/** Opens the file once in each global scope. A process that may not open it, or a browser, counts nothing. */
const COUNTER = `(globalThis[Symbol.for("rt.blocks")] ??= (() => { try { return Bun.mmap(${JSON.stringify(marks)}); } catch { return []; } })())`;

for (const [index, name] of names.entries()) {
  const text = texts[index]!;
  if (isGenerated(text)) continue;
  const instrumented = instrument(name, text, COUNTER, blocks.length);
  blocks.push(...instrumented.blocks);
  await writeFile(join(tree, name), instrumented.text);
}

// Other users' processes write to it too.
process.umask(0);
const descriptor = openSync(marks, "w", 0o666);
ftruncateSync(descriptor, blocks.length);
closeSync(descriptor);
process.umask(0o022);

const child = Bun.spawn([ENGINE, "test/run.ts", ...patterns], {
  cwd: tree,
  stdio: ["ignore", "inherit", "inherit"],
  env: { ...process.env, CI: undefined },
});
process.prependListener("exit", () => child.kill());
await child.exited;
process.stdout.write(renderCoverage(blocks, readFileSync(marks), patterns.length > 0));
