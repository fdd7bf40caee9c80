// A cached script whose start fails, for example because the system cannot create a process. A retry must not detect the
// failed attempt as a concurrent run.
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { TracedScript } from "../../../src/cache/tracing/traced-script.ts";
import { ConcurrentRunDetector, sweep } from "../../../src/cache/restore/concurrent-run-detector.ts";
import { createProject } from "../../support/project.ts";

test("a script whose start failed leaves no marker, so a retry is not a concurrent run", async () => {
  await using project = await createProject();
  const directory = project.join("presence");
  mkdirSync(directory);
  const createDetector = () => new ConcurrentRunDetector(directory, ["p", "build"], project.join("draft"));
  const steps = [{ event: "build", program: project.join("absent"), argv: ["absent"], env: {} }];
  const start = () => {
    const script = new TracedScript({ steps }, [{}], false, createDetector);
    const request = { cwd: project.path, output: "separate", onOutput() {} } as const;
    return () => script.start(0, request);
  };
  expect(start()).toThrow("ENOENT");
  expect(sweep(directory)).toEqual([]);
  const again = createDetector();
  expect(() => again.requireNoConcurrentRun()).not.toThrow();
  again.release();
});
