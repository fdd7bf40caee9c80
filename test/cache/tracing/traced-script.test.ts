// A cached script that cannot be started, as where the system has no room for one more process: it is tried again later, and must
// not meet itself then.
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { TracedScript } from "../../../src/cache/tracing/traced-script.ts";
import { ConcurrentRunDetector, sweep } from "../../../src/cache/restore/concurrent-run-detector.ts";
import { createProject } from "../../support/project.ts";

test("a script whose start fails is not there any more, and may come again", async () => {
  await using project = await createProject();
  const there = project.join("presence");
  mkdirSync(there);
  const announce = () => new ConcurrentRunDetector(there, ["p", "build"], project.join("draft"));
  const steps = [{ event: "build", program: project.join("absent"), argv: ["absent"], env: {} }];
  const start = () => {
    const script = new TracedScript(steps, [{}], undefined, announce);
    const request = { cwd: project.path, output: "separate", onOutput() {} } as const;
    return () => script.start(0, request);
  };
  expect(start()).toThrow("ENOENT");
  expect(sweep(there)).toEqual([]);
  const again = announce();
  expect(() => again.requireNoConcurrentRun()).not.toThrow();
  again.release();
});
