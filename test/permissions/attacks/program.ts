// A hostile script. attacks.test.ts runs it as a script of a package, with and without permissions.
//
// Non-obvious: attempts of root have a result for other users too, so that all systems have the same names.
import * as fs from "node:fs";
import { around } from "./calls.ts";
import { connections } from "./connections.ts";
import { kernel, privileged } from "./kernel.ts";
import { processes } from "./processes.ts";
import { project } from "./project.ts";
import { reading } from "./reading.ts";
import { writing } from "./writing.ts";

const groups = { reading, writing, processes, connections, kernel, privileged, project };
const results: Record<string, Record<string, string>> = {};
for (const [group, attempts] of Object.entries(groups)) {
  const isTried = group !== "privileged" || process.getuid!() === 0;
  const own: Record<string, string> = (results[group] = {});
  for (const [name, attempt] of Object.entries(attempts))
    try {
      own[name] = isTried ? ((await attempt()) ? "worked" : "failed") : "needs root";
    } catch (error) {
      own[name] = `failed: ${(error as Error).message}`;
    }
}
fs.writeFileSync(around.results, JSON.stringify(results));
process.exit(0);
