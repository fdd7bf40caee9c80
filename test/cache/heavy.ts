// `npm run test:cache`: runs the tests of this folder with the numbers of rounds for a release. Arguments select test files,
// as with `npm test`. RT_TEST_SEED sets the random seed. `--all` runs each input of the corpus tools instead (whole-pass.ts).
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
