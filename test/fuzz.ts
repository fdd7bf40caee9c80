// `npm run test:fuzz`: runs the tests with random inputs, with the number of inputs for a release. RT_FUZZ sets another number.
import { join } from "node:path";

const FILES = [
  "csrf/fuzz",
  "workspace/fuzz",
  "upgrade/fuzz",
  "secrets/linux/damaged-messages",
  "front/",
  "permissions/guard",
];

const child = Bun.spawn([process.execPath, join(import.meta.dir, "run.ts"), ...FILES], {
  env: { RT_FUZZ: "100000", ...process.env },
  stdin: "ignore",
  stdout: "inherit",
  stderr: "inherit",
});
process.exit(await child.exited);
