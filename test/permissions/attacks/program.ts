// A hostile script. attacks.test.ts runs it as a script of a package, with and without permissions.
import * as fs from "node:fs";
import { around } from "./calls.ts";
import { connections } from "./connections.ts";
import { kernel, privileged } from "./kernel.ts";
import { processes } from "./processes.ts";
import { project } from "./project.ts";
import { reading } from "./reading.ts";
import { writing } from "./writing.ts";

const attempts = {
  ...reading,
  ...writing,
  ...processes,
  ...connections,
  ...kernel,
  ...(process.getuid!() === 0 && privileged),
  ...project,
};
const results: Record<string, string> = {};
for (const [name, attempt] of Object.entries(attempts))
  try {
    results[name] = (await attempt()) ? "worked" : "failed";
  } catch (error) {
    results[name] = `failed: ${(error as Error).message}`;
  }
fs.writeFileSync(around.results, JSON.stringify(results));
process.exit(0);
