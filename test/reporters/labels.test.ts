// Tests the text of durations, and the exit codes of scripts that cannot start.
import { expect, test } from "bun:test";
import { formatDuration } from "../../src/tasks/labels.ts";
import { explainSpawnError } from "../../src/tasks/execution/spawn-error.ts";

test.each([
  [0.4, "0 ms"],
  [999.4, "999 ms"],
  [999.5, "1.00 s"],
  [59_994, "59.99 s"],
  [59_995, "1 min 0 s"],
  [125_400, "2 min 5 s"],
])("formatDuration(%d) returns %s", (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});

test.each([
  ["EMFILE", 1, true],
  ["ENFILE", 1, true],
  ["EAGAIN", 1, true],
  ["ENOMEM", 1, true],
  ["ENOENT", 127, false],
  ["EACCES", 126, false],
  ["ENOEXEC", 126, false],
  ["E2BIG", 126, false],
  ["EPERM", 1, false],
])("a start that fails with %s has the exit code %d and is transient: %p", (code, exit, isTransient) => {
  const error = Object.assign(new Error("the system's words"), { code });
  expect(explainSpawnError(error, undefined)).toEqual({
    code: exit,
    reason: "the system's words",
    system: code,
    message: "the system's words",
    isTransient,
  });
});
