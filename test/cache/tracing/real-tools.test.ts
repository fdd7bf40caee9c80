// No stale hit with real tools: each input that was recorded of a run inside its project is changed, one by one, and each time
// the script would run; as it was, it would not.
//
//   npm run test:cache -- cache/tracing/real-tools     (all tools, some inputs of each; packages come from the registry)
//   npm run test:cache -- --all tsc go     (each input of these tools: test/cache/whole-pass.ts)
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { CAN_TRACE } from "../cached-project.ts";
import { findStale, recordRun } from "./recorded-run.ts";
import { missingProgram, QUICK, WORKLOADS } from "./tool-projects.ts";

const isHeavy = process.env.RT_TEST_CORPUS === "all";
/** Of each tool; they are spread over what was recorded. */
const MOST = Number(process.env.RT_TEST_INPUTS ?? (isHeavy ? 400 : 12));

for (const [name, workload] of Object.entries(isHeavy ? WORKLOADS : QUICK)) {
  const missing = missingProgram(workload);
  const title = `${name}: each input that changes is noticed${missing ? ` (${missing} is not installed)` : ""}`;
  test.skipIf(!CAN_TRACE || missing !== undefined)(
    title,
    async () => {
      await using run = await recordRun(name, workload);
      expect(await run.look()).toBe("hit");
      expect(run.changes.length).toBeGreaterThan(10);
      const step = Math.max(1, Math.ceil(run.changes.length / MOST));
      const chosen = run.changes.filter((_, index) => index % step === 0);
      expect(await findStale(run, chosen)).toEqual([]);
      expect(await run.look()).toBe("hit");
      writeFileSync(run.project.join("notes/unread"), "changed");
      expect(await run.look()).toBe("hit");
      console.log(
        `${name}: ${run.recorded} recorded, ${chosen.length} of ${run.changes.length} changes tried`,
      );
    },
    isHeavy ? 3_600_000 : 60_000,
  );
}
