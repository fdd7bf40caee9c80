// `npm run test:cache`: the tests of this folder as often as they should be tried before a release. Words choose test files,
// as with `npm test`; RT_TEST_SEED chooses other moments.
import { join } from "node:path";

const words = process.argv.slice(2);
const child = Bun.spawn(
  [process.execPath, join(import.meta.dir, "../run.ts"), ...(words.length > 0 ? words : ["cache/"])],
  {
    env: { RT_TEST_KILLS: "500", RT_TEST_ROUNDS: "20", RT_TEST_CORPUS: "all", ...process.env },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  },
);
process.exit(await child.exited);
