// SelfWriteDetector classifies each write as the user's or the script's, by its time in the run.
import { describe, expect, test } from "bun:test";
import { ContentSnapshot } from "../../src/watch/content-snapshot.ts";
import { HOLD_TIME, SelfWriteDetector, type WriteVerdict } from "../../src/watch/self-writes.ts";
import { createProject } from "../support/project.ts";

/** Classifies writes with changing content. Each run has its start time and the delays of its writes. */
function classify(
  moments: readonly (readonly [begin: number, ...delays: number[]])[],
  path = "a.ts",
): WriteVerdict[] {
  const writes = new SelfWriteDetector();
  return moments.flatMap(([begin, ...delays], number) =>
    delays.map((delay) => writes.classify({ path, isEqual: false, at: begin + delay }, { number, begin })),
  );
}

const soon = (count: number) => Array.from({ length: count }, (_, run) => [run * 100, 50] as const);

describe("file that each run writes", () => {
  test("the file restarts the script four times, is held, and is named when it is written again", () => {
    expect(classify([...soon(5), [3000, 50], [4000, 50], [5000, 60]])).toEqual([
      ...Array<WriteVerdict>(4).fill("restart"),
      "hold",
      "named",
      "none",
      "none",
    ]);
  });

  test("the file restarts the script when it is not written again after it was held", () => {
    expect(classify([...soon(5), [3000], [9000, 50]])).toEqual([
      ...Array<WriteVerdict>(4).fill("restart"),
      "hold",
      "restart",
    ]);
    expect(classify([...soon(5), [3000, 5000]]).at(-1)).toBe("restart");
  });

  test("the file is held until the writes stop, and is named when they do not", () => {
    const writing = Array.from({ length: 12 }, (_, second) => 50 + 1000 * second);
    const verdicts = classify([...soon(4), [400, ...writing]]).slice(4);
    expect(verdicts).toEqual([...Array<WriteVerdict>(10).fill("hold"), "named", "none"]);
    expect(HOLD_TIME).toBeGreaterThan(1000);
  });

  test("the file of a slow script is detected by the equal delay of its writes", () => {
    const late = (delays: readonly number[]) => delays.map((delay, run) => [run * 10_000, delay] as const);
    expect(classify(late([4000, 4100, 4300, 4000, 4200, 4100])).slice(3)).toEqual([
      "restart",
      "hold",
      "named",
    ]);
    expect(classify(late([4000, 9000, 2500, 4000, 6000, 3000, 8000, 4000]))).toEqual(
      Array<WriteVerdict>(8).fill("restart"),
    );
  });

  test("the file restarts the script again after a write long after the start", () => {
    const runs = [...soon(5), [3000, 50], [4000, 50, 5000]] as const;
    expect(classify([...runs, [20_000, 50, 30_000]]).slice(6)).toEqual(["none", "none", "none", "restart"]);
  });
});

describe("file that the user writes", () => {
  test("the file restarts the script however often it is written, also in runs with another reason", () => {
    expect(classify([[0, 10, 20, 30, 40, 50, 60]])).toEqual(Array<WriteVerdict>(6).fill("restart"));
    expect(
      classify([...soon(4), [400], ...soon(4).map(([begin, delay]) => [begin + 500, delay] as const)]),
    ).toEqual(Array<WriteVerdict>(8).fill("restart"));
  });

  test("unchanged content restarts the script only when no process of the script is left", () => {
    const writes = new SelfWriteDetector();
    const write = { path: "a.ts", isEqual: true, at: 50 };
    expect(writes.classify(write, { number: 1, begin: 0 })).toBe("none");
    expect(writes.classify(write, { number: 1, begin: 0, end: 50 })).toBe("none");
    expect(writes.classify(write, { number: 1, begin: 0, end: 49 })).toBe("restart");
  });
});

test.skipIf(process.platform === "win32")("a content snapshot does not read pipes", async () => {
  await using project = await createProject();
  const pipe = project.join("pipe.ts");
  await Bun.$`mkfifo ${pipe}`;
  const writer = Bun.spawn(["sh", "-c", `echo words > "$0"`, pipe]);
  new ContentSnapshot().add(pipe);
  const reader = Bun.spawn(["timeout", "5", "cat", pipe], { stdout: "pipe" });
  expect(await new Response(reader.stdout).text()).toBe("words\n");
  await writer.exited;
});
