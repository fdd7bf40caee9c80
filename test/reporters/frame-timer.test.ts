// When frames of the list are drawn.
import { expect, test } from "bun:test";
import { FrameTimer } from "../../src/reporters/list/frame-timer.ts";

test("frames do not overlap, and requests during a frame cause one more", async () => {
  const frames = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const started = Promise.withResolvers<void>();
  let count = 0;
  const timer = new FrameTimer(() => {
    count += 1;
    if (count === 2) started.resolve();
    return frames[count - 1]!.promise;
  });
  const first = timer.run();
  void timer.run();
  timer.request();
  expect(count).toBe(1);
  frames[0]!.resolve();
  await first;
  await started.promise;
  frames[1]!.resolve();
  expect(count).toBe(2);
  timer.cancel();
});
