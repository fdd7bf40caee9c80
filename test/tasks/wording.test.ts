// How long something took, as people read it.
import { expect, test } from "bun:test";
import { formatDuration } from "../../src/tasks/report/wording.ts";

test.each([
  [0.4, "0 ms"],
  [999.4, "999 ms"],
  [999.5, "1.00 s"],
  [59_994, "59.99 s"],
  [59_995, "1 min 0 s"],
  [125_400, "2 min 5 s"],
])("%d milliseconds are %s", (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});
