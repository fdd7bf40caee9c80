// `npm run test:cache`: the tests of this folder as often as they should be tried before a release. Words choose test files,
// as with `npm test`; RT_TEST_SEED chooses other moments. With `--all` it is each input of the tools of the corpus instead, or
// of those that are named: whole-pass.ts.
import { join } from "node:path";
import { compile, DIST } from "../../build/compile.ts";
import { hostTarget } from "../../build/targets.ts";

const words = process.argv.slice(2);
const isWhole = words.includes("--all");
if (isWhole) await compile(hostTarget(), join(DIST, hostTarget().file));
const command = isWhole
  ? [join(import.meta.dir, "whole-pass.ts"), ...words]
  : [join(import.meta.dir, "../run.ts"), ...(words.length > 0 ? words : ["cache/"])];
const child = Bun.spawn([process.execPath, ...command], {
  env: { RT_TEST_KILLS: "500", RT_TEST_ROUNDS: "20", RT_TEST_CORPUS: "all", ...process.env },
  stdin: "ignore",
  stdout: "inherit",
  stderr: "inherit",
});
process.exit(await child.exited);
