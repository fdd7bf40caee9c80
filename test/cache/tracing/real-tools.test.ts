// No stale hits of real tools: each recorded input inside the project is changed in turn, and must be a miss. Without a
// change the script must be a hit.
// `npm run test:cache -- cache/tracing/real-tools` tries all tools, with packages from the registry.
// `npm run test:cache -- --all tsc go` tries each input of these tools (whole-pass.ts).
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { CAN_TRACE } from "../cached-project.ts";
import { findStale, recordRun } from "./recorded-run.ts";
import { missingProgram, QUICK, WORKLOADS } from "./tool-projects.ts";

const isHeavy = process.env.RT_TEST_CORPUS === "all";
/** The number of inputs of each tool, spread evenly over the recorded ones. */
const MOST = Number(process.env.RT_TEST_INPUTS ?? (isHeavy ? 400 : 12));

for (const [name, workload] of Object.entries(isHeavy ? WORKLOADS : QUICK)) {
  const missing = missingProgram(workload);
  const title = `${name}: a change of each input is a miss${missing ? ` (${missing} is not installed)` : ""}`;
  test.skipIf(!CAN_TRACE || missing !== undefined)(
    title,
    async () => {
      await using run = await recordRun(name, workload);
      expect(await run.validate()).toBe("hit");
      expect(run.changes.length).toBeGreaterThan(10);
      const step = Math.max(1, Math.ceil(run.changes.length / MOST));
      const chosen = run.changes.filter((_, index) => index % step === 0);
      expect(await findStale(run, chosen)).toEqual([]);
      expect(await run.validate()).toBe("hit");
      writeFileSync(run.project.join("notes/unread"), "changed");
      expect(await run.validate()).toBe("hit");
      console.log(
        `${name}: ${run.recorded} recorded, ${chosen.length} of ${run.changes.length} changes tried`,
      );
    },
    isHeavy ? 3_600_000 : undefined,
  );
}
